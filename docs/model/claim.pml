/* Attempts on one message, one store that always answers, one upstream. docs/model/README.md says what this shows.

   Compile-time parameters:
     POLICY       claim_resend, claim_suppress or claim_defer: what a claim does with doubt
     ATTEMPTS     how many transactions carry the message: every run of the job, every retry of a client
     RECIPIENTS   1 or 2
     CRASHES      how many attempts may die with their relay, at any step
     SLEEPS       how often a lease may run out although its owner lives
     RECONNECTS   how often a connection may break between begin and the dot, for each attempt
     BROKEN_...   a mistake built in
     CHECK_SENT_ID  property 8 */

#ifndef POLICY
#define POLICY claim_resend
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef RECIPIENTS
#define RECIPIENTS 1
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef SLEEPS
#define SLEEPS 2
#endif
#ifndef RECONNECTS
#define RECONNECTS 1
#endif
#define MAX_CLAIMS 3  /* max_claims in transaction.cpp */

#define RECORDS RECIPIENTS
#define ALL ((1 << RECIPIENTS) - 1)

#include "protocol.pml"

/* ---- what the checks know and the relay does not ---- */
byte accepted[RECIPIENTS];  /* copies the upstream took */
byte resent[RECIPIENTS];    /* dots written by an attempt whose claim was marked after doubt */
bool told[RECIPIENTS];      /* a client was told 2xx; not by `suppress` */
byte copy_id;               /* the Message-ID of the copies the upstream took */
bool trouble;               /* an attempt died or fell silent, or an owner slept beyond its lease */

/* ---- attempts ---- */
mtype = { nothing, on_its_way, took, refused };
byte token[ATTEMPTS];         /* while it holds a claim (HeldClaim): that claim's owner token; otherwise 0 */
mtype upstream[ATTEMPTS] = nothing;  /* its message, from the dot on */
byte recipients[ATTEMPTS];    /* the envelope that goes upstream, as a mask */
byte id_sent[ATTEMPTS];       /* the Message-ID under which it goes */
byte started;
byte crashes;
byte sleeps;

/* Owner tokens are random, one for each claim; here attempt and round. */
#define TOKEN(a, round) ((round) * ATTEMPTS + (a) + 1)
#define ATTEMPT_OF(t) (((t) - 1) % ATTEMPTS)
#define MESSAGE_ID(a) ((a) + 1)
#define LIVES(r) (token[ATTEMPT_OF(record[r].owner)] == record[r].owner)

/* Nobody waits any more for what became of it. */
inline forget(a) {
  if
  :: token[a] == 0 -> upstream[a] = nothing; recipients[a] = 0; id_sent[a] = 0
  :: else
  fi
}

/* The first recipient's accepted copies go out under one Message-ID; with two recipients the first ids may disagree,
   and first_message_id() gives none. */
inline upstream_takes(a) {
  d_step {
    upstream[a] = took;
    at = 0;
    do
    :: at < RECIPIENTS ->
      if
      :: recipients[a] & (1 << at) ->
        accepted[at]++;
        /* property 2 */
        assert(accepted[at] <= 1 + resent[at]);
        /* property 5 */
        assert(accepted[at] == 1 || trouble)
      :: else
      fi;
      at++
    :: else -> break
    od;
    at = 0;
#if RECIPIENTS == 1
    /* property 6 */
    assert(copy_id == 0 || copy_id == id_sent[a]);
    copy_id = id_sent[a];
#endif
    forget(a)
  }
}

inline tell_2xx(asked, suppressed) {
  d_step {
    at = 0;
    do
    :: at < RECIPIENTS ->
      if
      :: (asked & (1 << at)) && !(suppressed & (1 << at)) ->
        /* property 1; what is suppressed is told 2xx and logged as a doubt */
        assert(accepted[at] > 0);
        told[at] = true
      :: else
      fi;
      at++
    :: else -> break
    od;
    at = 0
  }
}

/* The claim's verdicts (judge() in protocol_window.cpp) for the recipients asked: mine, of those after doubt; or
   duplicate, of those doubts that are suppressed. */
inline judge(asked, mine, marked, suppressed) {
  d_step {
    mine = 0; marked = 0; suppressed = 0;
    at = 0;
    do
    :: at < RECIPIENTS ->
      if
      :: asked & (1 << at) ->
        if
        :: action[at] == keep && found[at] == doubt -> suppressed = suppressed | (1 << at)
        :: action[at] == keep && found[at] != doubt ->
          /* property 4: a duplicate was accepted */
          assert(accepted[at] > 0)
        :: else ->
          mine = mine | (1 << at);
          /* property 7: who was told 2xx is not sent to again */
          assert(!told[at]);
          if
          :: found[at] == doubt ->
            marked = marked | (1 << at);
            /* property 5 */
            assert(trouble)
          :: else
          fi
        fi
      :: else
      fi;
      at++
    :: else -> break
    od;
    at = 0
  }
}

inline count_resent(marked) {
  d_step {
    at = 0;
    do
    :: at < RECIPIENTS ->
      if
      :: marked & (1 << at) -> resent[at]++
      :: else
      fi;
      at++
    :: else -> break
    od;
    at = 0
  }
}

/* Would the claim meet another attempt that is under way (claimed_other or sending_other)? Asking again before that has
   changed writes nothing. */
#define UNDER_WAY(r, t) \
  ((record[r].state == claimed || record[r].state == sending) && record[r].deadline == AHEAD && record[r].owner != (t))
#if RECIPIENTS == 1
#define BUSY(asked, t) (UNDER_WAY(0, t))
#else
#define BUSY(asked, t) ((((asked) & 1) && UNDER_WAY(0, t)) || (((asked) & 2) && UNDER_WAY(1, t)))
#endif

inline any_found(class, asked, yes) {
  yes = ((asked & 1) && found[0] == class)
#if RECIPIENTS == 2
    || ((asked & 2) && found[1] == class)
#endif
}

#define MAY_DIE crashes < CRASHES

/* Transaction::send_claimed() and what it calls. A client that gives up or repeats, at this relay or another, is the
   next attempt; this one goes on (P6). Every `atomic` is one step at the store or one write to the upstream. */
proctype Attempt(byte a) {
  byte round;
  byte asked;       /* recipients of the envelope that stand */
  byte mine, marked, suppressed;
  byte reconnects;
  bool yes;

  atomic {
#if RECIPIENTS == 1
    asked = 1
#else
    if
    :: asked = 1
    :: asked = 2
    :: asked = 3
    fi
#endif
  }

claim_it:  /* Claiming::claim() */
  atomic {
    step(POLICY, TOKEN(a, round), MESSAGE_ID(a), asked);
    if
    :: blocked ->
      any_found(doubt, asked, yes);
      if
      :: yes && POLICY == claim_defer -> goto over  /* told 451 4.4.2, at once */
      :: else ->
#ifdef BROKEN_PARTIAL_CLAIM
        token[a] = TOKEN(a, round);
        recipients[a] = asked;
#endif
        goto wait
      fi
    :: else ->
      judge(asked, mine, marked, suppressed);
      if
      :: mine == 0 ->  /* replay() */
        tell_2xx(asked, suppressed);
        goto over
      :: else ->
        token[a] = TOKEN(a, round);
        recipients[a] = mine;  /* set_duplicates_apart() */
        id_sent[a] = MESSAGE_ID(a);
#if RECIPIENTS == 1
        if
        :: marked -> id_sent[a] = record[0].message_id  /* first_message_id() */
        :: else
        fi;
#endif
        goto transmit
      fi
    fi
  }

wait:  /* busy: nothing is held. (Giving up after a time writes nothing either: an attempt that was never made.) */
  atomic {
    !BUSY(asked, TOKEN(a, round)) -> goto claim_it
  }

transmit:  /* UpstreamLeg::transmit() up to the dot: the body streams */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: goto give_back  /* refused before the dot, or no connection */
#ifdef BROKEN_NO_BEGIN
  :: goto dot
#elif defined(BROKEN_BEGIN_AFTER_DOT)
  :: goto dot
#else
  :: atomic {  /* Claiming::begin() */
      step(begin, token[a], MESSAGE_ID(a), mine);
#ifndef BROKEN_LOST_IGNORED
      if
      :: blocked ->  /* barred: the claim was lost */
        step(release, token[a], MESSAGE_ID(a), mine);
        token[a] = 0; recipients[a] = 0; id_sent[a] = 0; mine = 0; marked = 0; suppressed = 0;
        round++;
        if
        :: round < MAX_CLAIMS -> goto claim_it
        :: else -> goto over  /* told 451 4.4.5 */
        fi
      :: else
      fi;
#endif
      /* property 7 */
      assert(!(mine & 1) || !told[0]);
#if RECIPIENTS == 2
      assert(!(mine & 2) || !told[1]);
#endif
      goto dot
    }
#endif
  fi;

dot:  /* the records are `sending`; the dot is not written */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic { reconnects < RECONNECTS -> reconnects++; goto transmit }  /* broke before the dot: begin is asked again */
  :: goto declare_doubt  /* dropped by an exception: ~HeldClaim() after begin */
  :: atomic {
      upstream[a] = on_its_way;
      count_resent(marked);
#ifdef BROKEN_MARK_BEFORE_SENT
      step(commit, token[a], MESSAGE_ID(a), mine);
#endif
#ifdef BROKEN_BEGIN_AFTER_DOT
      goto late_begin
#else
      goto reply
#endif
    }
  fi;

#ifdef BROKEN_BEGIN_AFTER_DOT
late_begin:
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic { step(begin, token[a], MESSAGE_ID(a), mine); goto reply }
  fi;
#endif

reply:  /* the critical section: after the dot */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic { upstream[a] == took -> upstream[a] = nothing; goto take_down }
  :: atomic { upstream[a] == refused -> upstream[a] = nothing; goto give_back }
  :: atomic { /* silence, or the connection broke; what is on its way may still be taken */
      if
      :: upstream[a] != on_its_way -> upstream[a] = nothing
      :: else
      fi;
#ifdef BROKEN_SILENCE_IS_REFUSAL
      goto give_back
#elif defined(BROKEN_SILENCE_IS_SUCCESS)
      goto take_down
#else
      goto declare_doubt
#endif
    }
  fi;

take_down:  /* the upstream's 2xx */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic {
      step(commit, token[a], MESSAGE_ID(a), mine);
#if defined(CHECK_SENT_ID) && RECIPIENTS == 1
      /* property 8: the record that explains a duplicate names a Message-ID that went out */
      assert(record[0].message_id == copy_id);
#endif
      tell_2xx(asked, suppressed);
      goto over
    }
  fi;

give_back:  /* a definite refusal, or any failure before the dot: told 4xx or 5xx */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic {
      step(release, token[a], MESSAGE_ID(a), mine);
      goto over
    }
  fi;

declare_doubt:  /* told 451 4.4.2 */
  if
  :: atomic { MAY_DIE -> goto dead }
  :: atomic {
      trouble = true;
      step(doubt, token[a], MESSAGE_ID(a), mine);
      goto over
    }
  fi;

dead:  /* with its relay: no reply, nothing renewed; what is on its way may still be taken */
  atomic { crashes++; trouble = true }

over:
  atomic {
    token[a] = 0;
    if
    :: upstream[a] != on_its_way -> upstream[a] = nothing; recipients[a] = 0; id_sent[a] = 0
    :: else
    fi;
    round = 0; asked = 0; mine = 0; marked = 0; suppressed = 0; reconnects = 0; yes = false
  }
}

/* The store's clock. A lease runs out when its owner died, or slept, or could not reach the store for so long. */
inline run_out(r) {
  atomic {
#ifdef BROKEN_NO_RENEWAL
    record[r].deadline == AHEAD ->
#else
    record[r].deadline == AHEAD && (!LIVES(r) || sleeps < SLEEPS) ->
    if
    :: LIVES(r) -> sleeps++; trouble = true
    :: else
    fi;
#endif
    record[r].deadline = BEHIND;
    if
    :: record[r].state == claimed && !record[r].doubtful ->  /* lifetime(): as long as its lease; gone, or just not yet */
      record[r].state = absent;
      record[r].owner = 0;
      record[r].deadline = DECLARED;
      record[r].message_id = 0
    :: true
    fi
  }
}

/* HeldClaims::renew_due() of an owner that woke; a renewal in time changes nothing here. */
#ifdef BROKEN_RENEW_WITHOUT_OWNER
#define TO_RENEW(r, a) (token[a] != 0 && record[r].owner != token[a] && record[r].deadline == AHEAD)
#else
#define TO_RENEW(r, a) (record[r].deadline == BEHIND && record[r].owner == token[a] && token[a] != 0)
#endif
inline renew_late(r, a) {
  atomic { (recipients[a] & (1 << r)) && TO_RENEW(r, a) -> step(renew, token[a], MESSAGE_ID(a), 1 << r) }
}

active proctype Time() {
end_time:
  do
  :: run_out(0)
#if RECIPIENTS == 2
  :: run_out(1)
#endif
  :: renew_late(0, 0)
  :: renew_late(0, 1)
#if ATTEMPTS > 2
  :: renew_late(0, 2)
#endif
#if ATTEMPTS > 3
  :: renew_late(0, 3)
#endif
#if RECIPIENTS == 2
  :: renew_late(1, 0)
  :: renew_late(1, 1)
#if ATTEMPTS > 2
  :: renew_late(1, 2)
#endif
#endif
  od
}

/* The upstream takes a message or refuses it, at any time after the dot, be the relay there or not. */
inline decide(a) {
  atomic { upstream[a] == on_its_way -> upstream_takes(a) }
}
inline refuse(a) {
  atomic { upstream[a] == on_its_way -> upstream[a] = refused; forget(a) }
}

active proctype Upstream() {
end_upstream:
  do
  :: decide(0)
  :: refuse(0)
  :: decide(1)
  :: refuse(1)
#if ATTEMPTS > 2
  :: decide(2)
  :: refuse(2)
#endif
#if ATTEMPTS > 3
  :: decide(3)
  :: refuse(3)
#endif
  od
}

/* Attempts are alike, so they begin in their order. */
init {
  do
  :: started < ATTEMPTS ->
    atomic {
      run Attempt(started);
      started++
    }
  :: else -> break
  od
}
