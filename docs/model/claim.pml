/* Attempts on one message, one store that always answers, one upstream. docs/model/README.md says what this shows.

   Compile-time parameters:
     POLICY       claim_resend, claim_suppress or claim_defer: what a claim does with doubt
     ATTEMPTS     how many transactions carry the message: every run of the job, every retry of a client
     RECIPIENTS   1 or 2
     SLEEPS       how often a lease may run out although its owner lives; without it, without bound
     BROKEN_...   a mistake built in */

#ifndef POLICY
#define POLICY claim_resend
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef RECIPIENTS
#define RECIPIENTS 1
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
#ifdef SLEEPS
byte sleeps;
#define MAY_SLEEP(r) (!LIVES(r) || sleeps < SLEEPS)
#else
#define MAY_SLEEP(r) true
#endif

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

/* One step at the store, all or nothing over the recipients in `set`. */
#if RECIPIENTS == 1
#define step(verb, token, id, set) \
  d_step { \
    find(verb, 0, token); \
    blocked = action[0] == block; \
    carry_out(0, token, id) \
  }
#else
#define step(verb, token, id, set) \
  d_step { \
    find(verb, 0, token); \
    find(verb, 1, token); \
    blocked = (((set) & 1) && action[0] == block) || (((set) & 2) && action[1] == block); \
    if \
    :: ((set) & 1) && DOES(0) -> carry_out(0, token, id) \
    :: else \
    fi; \
    if \
    :: ((set) & 2) && DOES(1) -> carry_out(1, token, id) \
    :: else \
    fi \
  }
#ifdef BROKEN_PARTIAL_CLAIM
#define DOES(r) action[r] != block
#else
#define DOES(r) !blocked
#endif
#endif

/* For each recipient of a set. */
#if RECIPIENTS == 1
#define each(do_one, set) \
  if \
  :: (set) & 1 -> do_one(0) \
  :: else \
  fi
#else
#define each(do_one, set) \
  if \
  :: (set) & 1 -> do_one(0) \
  :: else \
  fi; \
  if \
  :: (set) & 2 -> do_one(1) \
  :: else \
  fi
#endif

inline count_copy(r) {
  accepted[r]++;
  /* property 2 */
  assert(accepted[r] <= 1 + resent[r]);
  /* property 5 */
  assert(accepted[r] == 1 || trouble)
}

inline upstream_takes(a) {
  d_step {
    upstream[a] = took;
    each(count_copy, recipients[a]);
#if RECIPIENTS == 1
    /* property 6. (With two recipients the first ids may disagree, and first_message_id() gives none.) */
    assert(copy_id == 0 || copy_id == id_sent[a]);
    copy_id = id_sent[a];
#endif
    forget(a)
  }
}

inline told_2xx(r) {
  /* property 1 */
  assert(accepted[r] > 0);
  told[r] = true
}

/* What is suppressed is told 2xx and logged as a doubt. */
inline tell_2xx(asked, suppressed) {
  d_step { each(told_2xx, (asked & ~suppressed)) }
}

/* The claim's verdict for one recipient (judge_one() in protocol_window.cpp): mine, perhaps after doubt; or duplicate,
   perhaps of a doubt that is suppressed. */
inline judge_one(r) {
  if
  :: action[r] == keep && found[r] == doubt -> suppressed = suppressed | (1 << r)
  :: action[r] == keep && found[r] != doubt ->
    /* property 4: a duplicate was accepted */
    assert(!(accepted[r] == 0))
  :: else ->
    mine = mine | (1 << r);
    /* property 7: who was told 2xx is not sent to again */
    assert(!told[r]);
    if
    :: found[r] == doubt ->
      marked = marked | (1 << r);
      /* property 5 */
      assert(trouble)
    :: else
    fi
  fi
}

inline count_resent(r) { resent[r]++ }

/* Would the claim meet another attempt that is under way (claimed_other or sending_other)? Asking again before that has
   changed writes nothing. */
#define UNDER_WAY(r, t) \
  ((record[r].state == claimed || record[r].state == sending) && record[r].deadline == AHEAD && record[r].owner != (t))
#if RECIPIENTS == 1
#define BUSY(asked, t) (UNDER_WAY(0, t))
#else
#define BUSY(asked, t) ((((asked) & 1) && UNDER_WAY(0, t)) || (((asked) & 2) && UNDER_WAY(1, t)))
#endif

/* Begin again would change nothing: all of it is `sending`, mine and alive. */
#define SENDS(r, a) \
  (!(recipients[a] & (1 << r)) || \
   (record[r].state == sending && record[r].owner == token[a] && record[r].deadline == AHEAD))
#if RECIPIENTS == 1
#define STILL_SENDING(a) SENDS(0, a)
#else
#define STILL_SENDING(a) (SENDS(0, a) && SENDS(1, a))
#endif

/* How the attempt ends, told or not. */
inline over(a) {
  token[a] = 0;
  if
  :: upstream[a] != on_its_way -> upstream[a] = nothing; recipients[a] = 0; id_sent[a] = 0
  :: else
  fi;
  round = 0; asked = 0; mine = 0; marked = 0; suppressed = 0
}

/* With its relay: no reply, nothing renewed; what is on its way may still be taken. */
inline die(a) { trouble = true; over(a) }

/* A definite refusal, or any failure before the dot: told 4xx or 5xx. */
inline release_it(a) { step(release, token[a], MESSAGE_ID(a), mine); over(a) }

/* The Message-ID that a doubt writes: that of the copy (HeldClaim::begin()). */
#ifdef BROKEN_DOUBT_OWN_ID
#define DOUBT_ID(a) MESSAGE_ID(a)
#else
#define DOUBT_ID(a) id_sent[a]
#endif

/* The outcome is unknown: told 451 4.4.2. */
inline declare_doubt(a) { trouble = true; step(doubt, token[a], DOUBT_ID(a), mine); over(a) }

/* The Message-ID that a commit writes: that of the copy (Transaction::settle()). */
#ifdef BROKEN_COMMIT_OWN_ID
#define COMMITTED_ID(a) MESSAGE_ID(a)
#else
#define COMMITTED_ID(a) id_sent[a]
#endif

/* The upstream's 2xx, handed on. */
inline commit_it(a) {
  step(commit, token[a], COMMITTED_ID(a), mine);
#if RECIPIENTS == 1 && !defined(BROKEN_SILENCE_IS_SUCCESS) && !defined(BROKEN_DOUBT_NOT_MARKED) && !defined(BROKEN_RESEND_HAS_NEW_ID)
  /* property 8: the record that explains a duplicate names a Message-ID that went out */
  assert(record[0].message_id == copy_id);
#endif
  tell_2xx(asked, suppressed);
  over(a)
}

/* Claiming::begin() as the gate of UpstreamLeg::try_once(), with what send_claimed() does when it is barred. */
inline begin_it(a) {
  step(begin, token[a], MESSAGE_ID(a), mine);
#ifdef BROKEN_LOST_IGNORED
  blocked = false;
#endif
  if
  :: blocked ->
    step(release, token[a], MESSAGE_ID(a), mine);
    token[a] = 0; recipients[a] = 0; id_sent[a] = 0; mine = 0; marked = 0; suppressed = 0;
    round++;
    if
    :: round < MAX_CLAIMS -> goto claim_it
    :: else -> over(a); goto end  /* told 451 4.4.5 */
    fi
  :: else ->
    /* property 7 */
    assert(!(mine & 1) || !told[0]);
#if RECIPIENTS == 2
    assert(!(mine & 2) || !told[1]);
#endif
    goto dot
  fi
}

/* Transaction::send_claimed() and what it calls. A client that gives up or repeats, at this relay or another, is the
   next attempt; this one goes on (P6).

   Every `atomic` is one step at the store or one write to the upstream, with what the relay does alone before and
   after it; between any two of them the relay may die, sleep, or wait for as long as it likes. */
proctype Attempt(byte a) {
  byte round;
  byte asked;                     /* recipients of the envelope that stand */
  byte mine, marked, suppressed;  /* the claim's verdicts */

#if RECIPIENTS == 1
  atomic { asked = 1; goto claim_it }
#else
  if
  :: atomic { asked = 1; goto claim_it }
  :: atomic { asked = 2; goto claim_it }
  :: atomic { asked = 3; goto claim_it }
  fi;
#endif

claim_it:  /* Claiming::claim(). Busy: nothing is held. Giving up after a time is an attempt that was never made. */
  atomic {
#ifdef BROKEN_PARTIAL_CLAIM
    step(POLICY, TOKEN(a, round), MESSAGE_ID(a), asked);
    if
    :: blocked ->
      token[a] = TOKEN(a, round);
      recipients[a] = asked;
      goto wait
    :: else
    fi;
#else
    !BUSY(asked, TOKEN(a, round)) ->
    step(POLICY, TOKEN(a, round), MESSAGE_ID(a), asked);
    if
    :: blocked ->  /* in doubt, policy `defer`: told 451 4.4.2 */
      over(a);
      goto end
    :: else
    fi;
#endif
    d_step { each(judge_one, asked) };
    if
    :: mine == 0 ->  /* replay() */
      tell_2xx(asked, suppressed);
      over(a);
      goto end
    :: else
    fi;
    token[a] = TOKEN(a, round);
    recipients[a] = mine;  /* set_duplicates_apart() */
    id_sent[a] = MESSAGE_ID(a);
#if RECIPIENTS == 1
    if
    :: marked -> id_sent[a] = record[0].message_id  /* first_message_id() */
    :: else
    fi;
#endif
  }

#ifdef BROKEN_PARTIAL_CLAIM
  goto transmit;
wait:
  atomic { !BUSY(asked, TOKEN(a, round)) -> goto claim_it };
#endif

#if !defined(BROKEN_NO_BEGIN) && !defined(BROKEN_BEGIN_AFTER_DOT)
transmit:  /* UpstreamLeg::transmit(): the body streams */
  if
  :: atomic { die(a); goto end }
  :: atomic { release_it(a); goto end }  /* refused before the dot, or no connection */
  :: atomic { begin_it(a) }
  fi;
#endif

dot:  /* the records are `sending`; the dot is not written */
  if
  :: atomic { die(a); goto end }
  :: atomic { release_it(a); goto end }  /* connections broke, and it is not worth another */
#if !defined(BROKEN_NO_BEGIN) && !defined(BROKEN_BEGIN_AFTER_DOT)
  :: atomic { !STILL_SENDING(a) -> begin_it(a) }  /* another connection: begin is asked again */
#endif
  :: atomic { declare_doubt(a); goto end }  /* dropped by an exception: ~HeldClaim() after begin */
  :: atomic {
      upstream[a] = on_its_way;
      d_step { each(count_resent, marked) };
#ifdef BROKEN_MARK_BEFORE_SENT
      step(commit, token[a], COMMITTED_ID(a), mine)
#endif
    }
  fi;

#ifdef BROKEN_BEGIN_AFTER_DOT
  if
  :: atomic { die(a); goto end }
  :: atomic { step(begin, token[a], MESSAGE_ID(a), mine) }
  fi;
#endif

reply:  /* the critical section, after the dot */
  if
  :: atomic { die(a) }
  :: atomic { upstream[a] == took -> commit_it(a) }
  :: atomic { upstream[a] == refused -> release_it(a) }
  :: atomic {  /* silence, or the connection broke; what is on its way may still be taken */
#ifdef BROKEN_SILENCE_IS_REFUSAL
      trouble = true; release_it(a)
#elif defined(BROKEN_SILENCE_IS_SUCCESS)
      commit_it(a)
#else
      declare_doubt(a)
#endif
    }
  fi;
end:
  skip
}

/* The store's clock. A lease runs out when its owner died, or slept, or could not reach the store for so long. */
inline run_out(r) {
  atomic {
#ifdef BROKEN_NO_RENEWAL
    record[r].deadline == AHEAD ->
#else
    record[r].deadline == AHEAD && MAY_SLEEP(r) ->
    if
    :: LIVES(r) ->
#ifdef SLEEPS
      sleeps++;
#endif
      trouble = true
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
