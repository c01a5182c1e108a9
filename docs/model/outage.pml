/* The same attempts over a store that may fail, with the guard between them (src/window/guarded_store.cpp,
   write_back.cpp): a shadow for each relay, and facts that are written back. One recipient.

   Compile-time parameters, beside POLICY and ATTEMPTS:
     STORE_DOWN   local or defer: what an attempt does when the store does not answer
     RELAYS       1 or 2
     OUTAGES      how often a relay loses the store; each sees its own outage, which covers a store down for both
     CRASHES      how many relays may die, with their shadow and what they had not written back
     BROKEN_...   a mistake built in */

#ifndef POLICY
#define POLICY claim_resend
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef RELAYS
#define RELAYS 1
#endif
#ifndef OUTAGES
#define OUTAGES 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define local 1
#define defer 2
#ifndef STORE_DOWN
#define STORE_DOWN local
#endif

#define STORE 0
#define SHADOW (1 + relay)
#define RECORDS (1 + RELAYS)

#include "protocol.pml"

/* ---- what the checks know and the relay does not ---- */
byte accepted;
byte resent;
byte unguarded;  /* dots written on a begin that the shadow answered, since the store did not */

/* ---- the relays ---- */
bool out[RELAYS];                                     /* Outage::down() */
chan facts_0 = [2 * ATTEMPTS] of { mtype, byte };    /* WriteBack::facts_ */
#if RELAYS == 2
chan facts_1 = [2 * ATTEMPTS] of { mtype, byte };
#define FACTS(r) ((r) == 0 -> facts_0 : facts_1)
#define KEPT(r) ((r) == 0 -> len(facts_0) : len(facts_1))
inline keep_fact(r, verb, t) {
  if
  :: (r) == 0 -> facts_0!verb, t
  :: else -> facts_1!verb, t
  fi
}
#else
#define KEPT(r) len(facts_0)
inline keep_fact(r, verb, t) { facts_0!verb, t }
#endif

/* ---- attempts ---- */
mtype = { nothing, on_its_way, took, refused };
byte token[ATTEMPTS];                /* while it has a claim held by the store, which is renewed (HeldClaims) */
mtype upstream[ATTEMPTS] = nothing;
byte at_relay[ATTEMPTS];
bool dead[ATTEMPTS];
byte started;
byte outages;
byte crashes;

#define TOKEN(a, round) ((round) * ATTEMPTS + (a) + 1)
#define ID 0  /* Message-IDs are not followed here */
#define MAX_CLAIMS 3

#define do_step(verb, r, t) d_step { find(verb, r, t); blocked = action[r] == block; if :: !blocked -> carry_out(r, t, ID) :: else fi }

/* GuardedStore::ask(). Not answered: `unsure` when the store may have carried it out all the same. */
hidden byte answered;
hidden byte unsure;
#define ask(verb, t) \
  if \
  :: out[relay] -> answered = false; unsure = false \
  :: !out[relay] -> answered = true; unsure = false; do_step(verb, STORE, t) \
  :: !out[relay] && outages < OUTAGES -> \
    outages++; out[relay] = true; answered = false; unsure = true; \
    if \
    :: true -> do_step(verb, STORE, t) \
    :: true \
    fi \
  fi

inline end_attempt() {
  token[a] = 0;
  if
  :: upstream[a] != on_its_way -> upstream[a] = nothing
  :: else
  fi;
  held = 0; marked = false; judges = false; known = absent; may_be_held = false; by_shadow = false; round = 0;
  at_relay[a] = 0
}

/* A claim's verdict `duplicate`: of what was sent, or of a doubt that is suppressed. */
inline duplicate(class) {
  if
  :: class == sent ->
    /* property 4 */
    assert(!(accepted == 0))
  :: else
  fi
}

/* GuardedStore::expect_end() of an attempt that does not go on */
inline not_expected() {
  if
  :: unsure -> keep_fact(relay, release, TOKEN(a, round))
  :: else
  fi
}

/* GuardedStore::claim_without_store() */
inline claim_without_store() {
  do_step(release, SHADOW, TOKEN(a, round));
  if
  :: STORE_DOWN == defer ->
    not_expected();
    end_attempt();
    goto end
  :: else
  fi;
  may_be_held = unsure;
  do_step(POLICY, SHADOW, TOKEN(a, round));
  if
  :: blocked -> not_expected(); end_attempt(); goto end
  :: !blocked && action[SHADOW] == keep -> not_expected(); duplicate(found[SHADOW]); end_attempt(); goto end
  :: else -> marked = found[SHADOW] == doubt; held = local
  fi
}

/* Its own claim, which it took for unanswered, was one after doubt: it is lost, and claims again. */
#ifndef BROKEN_OWN_DOUBT_IS_FREE
#define OWN_DOUBT record[STORE].doubtful
#else
#define OWN_DOUBT false
#endif

/* GuardedStore::end() in its two halves: what the store does; and, when its answer or failure is known, what is kept and
   what the shadow does. Between them the shadow still says that the attempt is under way. */
#define end_in_store(verb) \
  token[a] = 0; \
  if \
  :: verb == release && !may_be_held && held == local && out[relay] -> answered = true \
  :: else -> ask(verb, TOKEN(a, round)) \
  fi; \
  to_keep = !answered
#define keep_it(verb) \
  if \
  :: to_keep -> keep_fact(relay, verb, TOKEN(a, round)) \
  :: else \
  fi; \
  to_keep = false
#ifdef BROKEN_SHADOW_ENDS_FIRST
#define first_half(verb) do_step(verb, SHADOW, TOKEN(a, round))
#define second_half(verb) end_in_store(verb); keep_it(verb)
#else
#define first_half(verb) end_in_store(verb)
#define second_half(verb) keep_it(verb); do_step(verb, SHADOW, TOKEN(a, round))
#endif

#define BUSY(r) \
  ((record[r].state == claimed || record[r].state == sending) && record[r].deadline == AHEAD)

proctype Attempt(byte a; byte relay) {
  byte round;
  byte held;          /* 0: nothing; `local`; 3: the store */
  bool marked;        /* after doubt */
  bool judges;        /* memory_judges */
  bool may_be_held;   /* unanswered_ */
  bool to_keep;
  bool by_shadow;
  mtype known = absent;  /* what the shadow found */

  {
    skip;
claim_it:  /* GuardedStore::claim() */
    atomic {
      !BUSY(SHADOW) && (out[relay] || !BUSY(STORE)) ->
      judges = out[relay] || KEPT(relay) > 0;
      if
      :: judges -> do_step(POLICY, SHADOW, TOKEN(a, round))
      :: else -> do_step(claim_resend, SHADOW, TOKEN(a, round))
      fi;
      if
      :: blocked -> end_attempt(); goto end
      :: !blocked && judges && action[SHADOW] == keep -> duplicate(found[SHADOW]); end_attempt(); goto end
      :: else -> known = found[SHADOW]
      fi
    }
    atomic {
      ask(POLICY, TOKEN(a, round));
      if
      :: !answered -> claim_without_store()
      :: answered && blocked ->
        do_step(release, SHADOW, TOKEN(a, round));
        known = absent; judges = false;
        if
        :: found[STORE] == doubt -> end_attempt(); goto end
        :: else -> goto claim_it
        fi
      :: answered && !blocked && action[STORE] == keep ->
        do_step(release, SHADOW, TOKEN(a, round));
        duplicate(found[STORE]);
        end_attempt();
        goto end
      :: else ->  /* ask_for(): a doubt that only this process knows of stays one */
#ifdef BROKEN_KNOWN_DOUBT_DROPPED
        marked = found[STORE] == doubt || (judges && known == doubt && found[STORE] == absent);
#else
        marked = found[STORE] == doubt || (judges && known == doubt);
#endif
        held = 3;
        token[a] = TOKEN(a, round)
      fi;
      judges = false; known = absent
    }

    if
    :: goto give_back
    :: atomic {  /* GuardedStore::begin() */
        skip;  /* an `else` that comes first would be the outer choice's */
        if
#ifndef BROKEN_LOCAL_BEGINS_ALONE
        :: held == local && !out[relay] -> goto begin_local
        :: held == local && out[relay] -> do_step(begin, SHADOW, TOKEN(a, round)); by_shadow = true
#else
        :: held == local -> do_step(begin, SHADOW, TOKEN(a, round)); by_shadow = true
#endif
        :: else ->
          ask(begin, TOKEN(a, round));
          if
          :: answered && blocked -> do_step(release, SHADOW, TOKEN(a, round)); blocked = true
          :: !answered && STORE_DOWN == defer -> goto give_back
          :: !answered && STORE_DOWN == local -> do_step(begin, SHADOW, TOKEN(a, round)); by_shadow = true
          :: else
          fi
        fi;
        if
        :: blocked -> goto lost
        :: else
        fi
      }
    fi;

begun:
    if
    :: goto give_back
    :: goto in_doubt
    :: atomic {
        upstream[a] = on_its_way;
        unguarded = unguarded + by_shadow;
        resent = resent + marked
      }
    fi;

    if
    :: atomic { upstream[a] == took -> first_half(commit) }
    :: atomic { upstream[a] == refused -> goto give_back }
    :: goto in_doubt
    fi;
    atomic {
      second_half(commit);
      /* property 1 */
      assert(accepted > 0);
      end_attempt();
      goto end
    }

in_doubt:
    atomic { first_half(doubt) };
    atomic { second_half(doubt); end_attempt(); goto end }

give_back:
    atomic { first_half(release) };
    atomic { second_half(release); end_attempt(); goto end }

begin_local:  /* GuardedStore::begin_local(): the store is back */
    atomic {
      may_be_held = true;
      ask(claim_defer, TOKEN(a, round));
      if
      :: !answered -> do_step(begin, SHADOW, TOKEN(a, round)); by_shadow = true; goto begun
      :: answered && (blocked || action[STORE] == keep || OWN_DOUBT) -> goto lost
      :: else
      fi
    };
    atomic {
      ask(begin, TOKEN(a, round));
      if
      :: answered && blocked -> goto lost
      :: else -> by_shadow = !answered; do_step(begin, SHADOW, TOKEN(a, round)); goto begun
      fi
    };

lost:
    atomic { first_half(release) };
    atomic {
      second_half(release);
      held = 0; marked = false; may_be_held = false; by_shadow = false;
      round++;
      if
      :: round < MAX_CLAIMS -> goto claim_it
      :: else -> end_attempt()
      fi
    }
#if CRASHES > 0
  } unless { dead[a] };
#else
  };
#endif
end:
  skip
}

/* WriteBack::run(): asks whether the store is back, then writes what is kept, in its order. */
#define write_back(queue) \
  atomic { nempty(queue) && !out[relay] -> \
    if \
    :: queue?[release, t] -> queue?<release, t>; ask(release, t) \
    :: queue?[commit, t] -> queue?<commit, t>; ask(commit, t) \
    :: queue?[doubt, t] -> queue?<doubt, t>; ask(doubt, t) \
    fi; \
    if \
    :: answered -> queue?_, _ \
    :: else \
    fi; \
    t = 0 \
  }

inline wipe(r) {
  record[r].state = absent; record[r].owner = 0; record[r].deadline = DECLARED; record[r].doubtful = false;
  was_sent[r] = false
}

inline kill(n) {
  if
  :: started > n && at_relay[n] == relay + 1 ->
    dead[n] = true; token[n] = 0; at_relay[n] = 0;
    if
    :: upstream[n] != on_its_way -> upstream[n] = nothing
    :: else
    fi
  :: else
  fi
}

proctype Relay(byte relay) {
  byte t;
end_relay:
  do
  :: atomic { out[relay] -> out[relay] = false }
  :: write_back(facts_0)
#if CRASHES > 0
  :: d_step { crashes < CRASHES ->
      crashes++;
      wipe(SHADOW);
      out[relay] = false;
      do
      :: len(facts_0) > 0 -> facts_0?_, _
      :: else -> break
      od;
      kill(0); kill(1)
#if ATTEMPTS > 2
      ; kill(2)
#endif
    }
#endif
  od
}

#if RELAYS == 2
proctype Relay2(byte relay) {
  byte t;
end_relay:
  do
  :: atomic { out[relay] -> out[relay] = false }
  :: write_back(facts_1)
  od
}
#endif

/* The store's clock: a lease may run out at any time. */
active proctype Time() {
end_time:
  do
  :: atomic {
      record[STORE].deadline == AHEAD ->
      record[STORE].deadline = BEHIND;
      if
      :: record[STORE].state == claimed && !record[STORE].doubtful -> wipe(STORE)
      :: true
      fi
    }
  od
}

#define decide(n) \
  :: d_step { upstream[n] == on_its_way -> \
      accepted++; \
      /* property 2 */ \
      assert(accepted <= 1 + resent + EXCUSED); \
      upstream[n] = ((at_relay[n] == 0) -> nothing : took) } \
  :: d_step { upstream[n] == on_its_way -> upstream[n] = ((at_relay[n] == 0) -> nothing : refused) }

/* Two relays that do not see each other may both send: each such copy was begun without the store. */
#if RELAYS == 2
#define EXCUSED unguarded
#else
#define EXCUSED 0
#endif

active proctype Upstream() {
end_upstream:
  do
  decide(0)
  decide(1)
#if ATTEMPTS > 2
  decide(2)
#endif
  od
}

init {
  atomic {
    run Relay(0);
#if RELAYS == 2
    run Relay2(1);
#endif
  }
  do
  :: started < ATTEMPTS ->
    atomic { at_relay[started] = 1; run Attempt(started, 0); started++ }
#if RELAYS == 2
  :: started < ATTEMPTS ->
    atomic { at_relay[started] = 2; run Attempt(started, 1); started++ }
#endif
  :: started == ATTEMPTS -> break
  od
}
