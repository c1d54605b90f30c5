/**
 * The life of a run: its states, what moves it from one to another, and the SQL that says the same.
 * Only the files in `transitions/` write the table `runs`. A run that has finished leaves it for the
 * history.
 */

/**
 * - `parked` waits for a slot in its named queue.
 * - `blocked` waits for the previous run of its task.
 * - `ready` is due now or later, and nobody holds it.
 * - `leased` is held by a node or an agent, and its call has not begun.
 * - `running` is held too, and its call is in progress.
 * - `awaiting` is held by nobody: its target reports to the completion URL.
 */
export const runStates = ["parked", "blocked", "ready", "leased", "running", "awaiting"] as const

export type RunState = (typeof runStates)[number]

type From = RunState | "new"
type To = RunState | "finished" | "withdrawn"

/**
 * Who moves a run from which state to which: the functions of the files in `transitions/`. Where a
 * state has no entry, the function leaves the run alone. `new` is a run that the function adds,
 * `finished` one that it moves to the history, and `withdrawn` one of which it leaves no trace. A
 * state that leads to itself gets something else: a request to stop, another queue, a new start.
 * `correctRunTimes` is not here: it corrects times after the clock of the database was stepped, and
 * withdraws slots that are still to come.
 */
export const transitions = {
  enqueue: { new: ["parked", "ready"] },
  rerun: { new: ["parked", "ready"] },
  fire: { new: ["parked", "ready", "leased"] },
  admit: { parked: ["ready", "leased"] },
  handOver: { parked: ["leased", "running"] },
  leaveQueue: { parked: ["ready"] },
  release: { blocked: ["parked", "ready"] },
  claim: { ready: ["leased", "running"] },
  start: { leased: ["running", "blocked"], running: ["running"] },
  awaitCompletion: { running: ["awaiting"] },
  finish: {
    // The next step of a chain.
    new: ["parked", "ready", "leased"],
    parked: ["finished"],
    blocked: ["finished"],
    ready: ["finished"],
    leased: ["finished"],
    running: ["finished", "parked", "ready"],
    awaiting: ["finished", "parked", "ready"]
  },
  handBack: { leased: ["ready"], running: ["ready"] },
  recover: { leased: ["parked", "ready"], running: ["finished", "parked", "ready"] },
  cancel: {
    parked: ["finished"],
    blocked: ["finished"],
    ready: ["finished"],
    leased: ["finished"],
    running: ["running"],
    awaiting: ["finished"]
  },
  // All runs of a task, or of a workspace that is deleted together with its history.
  stop: {
    parked: ["finished", "withdrawn"],
    blocked: ["finished", "withdrawn"],
    ready: ["finished", "withdrawn"],
    leased: ["finished", "withdrawn"],
    running: ["running"],
    awaiting: ["finished", "withdrawn"]
  },
  withdraw: {
    parked: ["withdrawn"],
    blocked: ["withdrawn"],
    ready: ["withdrawn"],
    leased: ["withdrawn"]
  },
  // To another named queue, to none, or to workers.
  move: {
    parked: ["parked", "ready"],
    blocked: ["blocked"],
    ready: ["parked", "ready"],
    leased: ["parked", "ready"],
    running: ["running"],
    awaiting: ["awaiting"]
  }
} satisfies Record<string, { readonly [State in From]?: ReadonlyArray<To> }>

export type Transition = keyof typeof transitions

/**
 * The generated column `phase` is the state, with `leased` and `running` as one value. Indexes name
 * the phase and never the state, so that starting a run changes no value that an index has, and
 * PostgreSQL can keep the update within its page (HOT).
 */
type Phase = Exclude<RunState, "leased" | "running"> | "held"

/** SQL for whether a row of `runs` is in this phase, as in the predicates of its indexes. */
export const isInPhase = (phase: Phase, table = "runs") => `${table}.phase = '${phase}'`

/** SQL for whether the call of a row of `runs` has begun and its attempt has not finished. */
export const hasBegun = (table = "runs") => `${table}.state IN ('running', 'awaiting')`

/** SQL for the status that the API shows for a row of `runs`. */
export const shownStatus = (table = "runs") =>
  `CASE WHEN ${hasBegun(table)} THEN 'running' ELSE 'queued' END`

/**
 * SQL for the state in which a row of `runs` waits for its next attempt: for its turn in its queue if
 * it has one. A run that is to be stopped needs no turn.
 */
export const nextTurn = (table = "runs") =>
  `CASE WHEN ${table}.queue_id IS NULL OR ${table}.cancel_requested THEN 'ready' ELSE 'parked' END`
