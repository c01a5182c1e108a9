/* The state machine of the claim protocol: src/window/protocol.cpp in Promela, name by name.

   Verbs, classes, actions and states have the names they have in include/mailonce/window/protocol.h. Each verb's table
   is one inline, one line for each class; docs/model/check compares them with the tables in protocol.cpp, character by
   character, so that model and code can not drift apart. What a BROKEN_ switch changes stands outside of the tables.

   The file that includes this one defines RECORDS, how many records there are. */

mtype = {
  /* State (record.h) and Class (protocol.h); absent, sent and doubt are also a state, an action or a verb */
  absent, claimed, sending, sent,
  claimed_mine, claimed_other, claimed_expired, sending_mine, sending_other, doubt,
  /* Action (protocol.h) */
  keep, block, claim, claim_doubtful, extend, send, commit, remove, declare, mark,
  /* Verb (protocol.h) */
  claim_resend, claim_suppress, claim_defer, begin, release, renew
};

/* A deadline is to the protocol: declared (zero: doubt, whoever asks), ahead of the store's time, or behind it. */
#define DECLARED 0
#define AHEAD 1
#define BEHIND 2

typedef Record {
  mtype state = absent;
  byte owner;      /* token, 0: nobody's or nobody's that acts again */
  byte deadline;
  bool doubtful;
  byte message_id  /* the first attempt's, 0: none */
};
Record record[RECORDS];
bool was_sent[RECORDS];  /* ghost: property 3 */

/* What a step found and did; read right after it, so no part of the state. (Breadth-first search knows no `hidden`.) */
#ifdef BREADTH_FIRST
#define hidden
#endif
hidden mtype found[RECORDS];
hidden mtype action[RECORDS];
hidden byte blocked;

inline table_claim_resend(c, x) {
  if
  :: c == absent          -> x = claim
  :: c == claimed_mine    -> x = extend
  :: c == claimed_other   -> x = block
  :: c == claimed_expired -> x = claim
  :: c == sending_mine    -> x = block
  :: c == sending_other   -> x = block
  :: c == doubt           -> x = claim_doubtful
  :: c == sent            -> x = keep
  fi
}
inline table_claim_suppress(c, x) {
  if
  :: c == absent          -> x = claim
  :: c == claimed_mine    -> x = extend
  :: c == claimed_other   -> x = block
  :: c == claimed_expired -> x = claim
  :: c == sending_mine    -> x = block
  :: c == sending_other   -> x = block
  :: c == doubt           -> x = keep
  :: c == sent            -> x = keep
  fi
}
inline table_claim_defer(c, x) {
  if
  :: c == absent          -> x = claim
  :: c == claimed_mine    -> x = extend
  :: c == claimed_other   -> x = block
  :: c == claimed_expired -> x = claim
  :: c == sending_mine    -> x = block
  :: c == sending_other   -> x = block
  :: c == doubt           -> x = block
  :: c == sent            -> x = keep
  fi
}
inline table_begin(c, x) {
  if
  :: c == absent          -> x = block
  :: c == claimed_mine    -> x = send
  :: c == claimed_other   -> x = block
  :: c == claimed_expired -> x = block
  :: c == sending_mine    -> x = send
  :: c == sending_other   -> x = block
  :: c == doubt           -> x = block
  :: c == sent            -> x = block
  fi
}
inline table_commit(c, x) {
  if
  :: c == absent          -> x = commit
  :: c == claimed_mine    -> x = commit
  :: c == claimed_other   -> x = commit
  :: c == claimed_expired -> x = commit
  :: c == sending_mine    -> x = commit
  :: c == sending_other   -> x = commit
  :: c == doubt           -> x = commit
  :: c == sent            -> x = keep
  fi
}
inline table_release(c, x) {
  if
  :: c == absent          -> x = keep
  :: c == claimed_mine    -> x = remove
  :: c == claimed_other   -> x = keep
  :: c == claimed_expired -> x = keep
  :: c == sending_mine    -> x = remove
  :: c == sending_other   -> x = keep
  :: c == doubt           -> x = keep
  :: c == sent            -> x = keep
  fi
}
inline table_renew(c, x) {
  if
  :: c == absent          -> x = keep
  :: c == claimed_mine    -> x = extend
  :: c == claimed_other   -> x = keep
  :: c == claimed_expired -> x = keep
  :: c == sending_mine    -> x = extend
  :: c == sending_other   -> x = keep
  :: c == doubt           -> x = keep
  :: c == sent            -> x = keep
  fi
}
inline table_doubt(c, x) {
  if
  :: c == absent          -> x = declare
  :: c == claimed_mine    -> x = declare
  :: c == claimed_other   -> x = mark
  :: c == claimed_expired -> x = declare
  :: c == sending_mine    -> x = declare
  :: c == sending_other   -> x = mark
  :: c == doubt           -> x = mark
  :: c == sent            -> x = keep
  fi
}

/* classify() */
inline classify(r, token, c) {
  if
  :: record[r].state == absent -> c = absent
  :: record[r].state == sent -> c = sent
  :: record[r].state == claimed ->
    if
    :: record[r].owner == token -> c = claimed_mine
    :: else ->
      if
      :: record[r].deadline == AHEAD -> c = claimed_other
      :: else ->
        if
        :: record[r].doubtful -> c = doubt
        :: else -> c = claimed_expired
        fi
      fi
    fi
  :: record[r].state == sending ->
    if
    :: record[r].deadline == DECLARED -> c = doubt
    :: else ->
      if
      :: record[r].owner == token -> c = sending_mine
      :: else ->
        if
        :: record[r].deadline == AHEAD -> c = sending_other
        :: else -> c = doubt
        fi
      fi
    fi
  fi;
#ifdef BROKEN_LEASE_FREES_SENDING
  if
  :: c == doubt && record[r].deadline == BEHIND -> c = claimed_expired
  :: else
  fi
#endif
}

/* What a BROKEN_ switch changes in a verb's table. */
inline mistake(verb, c, x) {
  skip;
#ifdef BROKEN_BEGIN_UNFENCED
  if
  :: verb == begin && x == block && c != sent -> x = send
  :: else
  fi
#endif
#ifdef BROKEN_RELEASE_WITHOUT_OWNER
  if
  :: verb == release && (c == claimed_other || c == claimed_expired || c == sending_other) -> x = remove
  :: else
  fi
#endif
#ifdef BROKEN_RELEASE_OF_SENT
  if
  :: verb == release && c == sent -> x = remove
  :: else
  fi
#endif
#ifdef BROKEN_COMMIT_OWN_ONLY
  if
  :: verb == commit && c != claimed_mine && c != sending_mine -> x = keep
  :: else
  fi
#endif
#ifdef BROKEN_RENEW_WITHOUT_OWNER
  if
  :: verb == renew && (c == claimed_other || c == sending_other) -> x = extend
  :: else
  fi
#endif
#ifdef BROKEN_DOUBT_MEETS_DOUBT
  if
  :: verb == doubt && c == doubt -> x = keep
  :: else
  fi
#endif
#ifdef BROKEN_DOUBT_KEPT_AS_ANOTHERS
  if
  :: x == mark -> x = keep
  :: else
  fi
#endif
#ifdef BROKEN_DOUBT_NOT_MARKED
  if
  :: x == claim_doubtful -> x = claim
  :: else
  fi
#endif
}

inline declare_record(r, token, id) {
  if
  :: record[r].owner != token -> record[r].message_id = id
  :: else
  fi;
  record[r].state = sending;
  record[r].doubtful = false;
  record[r].deadline = DECLARED;
  record[r].owner = token
}

/* rewrite(): carries out a writing action */
inline rewrite(x, r, token, id) {
  if
  :: x == claim ->
    record[r].state = claimed;
    record[r].owner = token;
    record[r].deadline = AHEAD;
    record[r].doubtful = false;
    record[r].message_id = id
  :: x == claim_doubtful ->
    record[r].state = claimed;
    record[r].owner = token;
    record[r].deadline = AHEAD;
    record[r].doubtful = true;
#ifdef BROKEN_RESEND_HAS_NEW_ID
    record[r].message_id = id
#endif
  :: x == extend ->
#ifdef BROKEN_RENEW_WITHOUT_OWNER
    record[r].owner = token;
#endif
    record[r].deadline = AHEAD
  :: x == send ->
    record[r].state = sending;
#ifdef BROKEN_BEGIN_UNFENCED
    record[r].owner = token;
#endif
    record[r].deadline = AHEAD
  :: x == commit ->
#ifdef BROKEN_COMMIT_OWN_ID
    if
    :: record[r].owner != token -> record[r].message_id = id
    :: else
    fi;
#else
    record[r].message_id = id;
#endif
    record[r].state = sent;
    record[r].owner = token;
    record[r].deadline = DECLARED;
    record[r].doubtful = false
  :: x == remove ->
    if
#ifndef BROKEN_DOUBT_REMOVED
    :: record[r].doubtful -> declare_record(r, token, id)
#endif
    :: else ->
      record[r].state = absent;
      record[r].owner = 0;
      record[r].deadline = DECLARED;
      record[r].doubtful = false;
      record[r].message_id = 0
    fi
  :: x == declare -> declare_record(r, token, id)
  :: x == mark ->
    record[r].doubtful = true;
    record[r].message_id = id
  :: x == keep || x == block
  fi;
  /* Nobody asks who owns what is sent or declared doubt: an attempt that wrote it takes no further step. */
  if
  :: record[r].state == sent || (record[r].state == sending && record[r].deadline == DECLARED) -> record[r].owner = 0
  :: else
  fi
}

/* A store's step (Store::step, step.lua) in its two halves, for one record each: what it is and what the verb does with
   it; and, if none of the step's records blocks, the doing. Both inside of one d_step. */
#define find(verb, r, token) find_by(verb, r, token)
#define find_by(verb, r, token) \
  classify(r, token, found[r]); \
  table_##verb(found[r], action[r]); \
  mistake(verb, found[r], action[r])

inline carry_out(r, token, id) {
  rewrite(action[r], r, token, id);
  was_sent[r] = was_sent[r] || record[r].state == sent;
  /* property 3 */
  assert(!was_sent[r] || record[r].state == sent)
}
