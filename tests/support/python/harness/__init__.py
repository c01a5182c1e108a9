"""What system tests are made of: the relay, the scripted upstream and Redis as processes, mails, and the oracle."""

from .certificates import certificates
from .client import Attempt, Conversation, attempt_of, submit
from .mails import Mail
from .partition import check_partition
from .redis import Redis
from .redis_cluster import RedisCluster
from .redis_sentinel import RedisSentinel
from .relay import Relay
from .upstream import Upstream
from .waiting import wait_until
from .world import World

__all__ = ["Attempt", "Conversation", "Mail", "Redis", "RedisCluster", "RedisSentinel", "Relay", "Upstream", "World",
           "attempt_of", "certificates", "check_partition", "submit", "wait_until"]
