/**
 * The life of a run: its states, its transitions, and their SQL. Only the files in `transitions/`
 * write the table `runs`. A finished run is moved to the history.
 */

/**
 * - `parked`: waits for a slot in its named queue, or until its stopped workspace is resumed.
 * - `blocked`: waits for the previous run of its task.
 * - `ready`: is due now or later, and is not leased.
 * - `leased`: is leased by a node or an agent; its call has not begun.
 * - `running`: is leased, and its call is in progress.
 * - `awaiting`: is not leased; the job will report to the completion URL, or its step waits.
 */
export const runStates = ["parked", "blocked", "ready", "leased", "running", "awaiting"] as const

export type RunState = (typeof runStates)[number]

type From = RunState | "new"
type To = RunState | "finished" | "withdrawn"

/**
 * The transitions of each function in `transitions/`. A function does not change runs in a state
 * that has no entry. `new` means that the function adds a run, `finished` that it moves the run to
 * the history, and `withdrawn` that it removes the run without a trace. A transition from a state
 * to itself changes another field of the run, such as the queue or a request to cancel.
 * `correctRunTimesAfterClockSetBack` is missing because it only corrects times after the database
 * clock was stepped, and withdraws future slots.
 */
export const transitions = {
  enqueue: { new: ["parked", "ready"] },
  rerun: { new: ["parked", "ready"] },
  backfill: { new: ["blocked", "parked", "ready"] },
  fire: { new: ["parked", "ready", "leased"] },
  admit: { parked: ["ready", "leased"] },
  handOver: { parked: ["leased", "running"] },
  leaveQueue: { parked: ["ready"] },
  release: { blocked: ["parked", "ready"] },
  claim: { ready: ["leased", "running", "parked"] },
  start: { leased: ["running", "blocked", "parked"], running: ["running"] },
  // Runs are parked when their workspace is stopped, and released when it is resumed.
  parkStopped: { ready: ["parked"] },
  resume: { parked: ["ready"] },
  awaitCompletion: { running: ["awaiting"] },
  finish: {
    // Adds the next step of a chain.
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
  // Moves a run to another named queue, out of its queue, or to workers.
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
 * The generated column `phase` is the state, with `leased` and `running` as one value. Indexes use
 * the phase and never the state, so that starting a run changes no indexed value and PostgreSQL can
 * keep the update within its page (HOT).
 */
type Phase = Exclude<RunState, "leased" | "running"> | "held"

/** SQL condition for rows of `runs` in this phase. It matches the predicates of the indexes. */
export const isInPhase = (phase: Phase, table = "runs") => `${table}.phase = '${phase}'`

/** SQL for whether a row of `runs` is not blocked. It matches the index of the runs of a task. */
export const isNotBlocked = (table: string) => `${table}.phase <> 'blocked'`

/** SQL for whether the call of a row of `runs` has begun and its attempt has not finished. */
export const hasBegun = (table = "runs") => `${table}.state IN ('running', 'awaiting')`

/** SQL for the status that the API shows for a row of `runs`. */
export const apiStatus = (table = "runs") =>
  `CASE WHEN ${hasBegun(table)} THEN 'running' ELSE 'queued' END`

/**
 * SQL for the state in which a row of `runs` waits for its next attempt: `parked` if it has a
 * queue, otherwise `ready`. A run with a request to cancel needs no slot.
 */
export const waitingState = (table = "runs") =>
  `CASE WHEN ${table}.queue_id IS NULL OR ${table}.cancel_requested THEN 'ready' ELSE 'parked' END`

/**
 * SQL for the new due time of a run that loses its queue slot before its call. Its turn had come,
 * so it goes ahead of all runs whose turn has not come. A run with a request to cancel needs no
 * slot and keeps its due time.
 */
export const dueTimeWithoutSlot = (table = "runs") =>
  `CASE WHEN ${table}.slot_queue_id IS NULL OR ${table}.cancel_requested THEN ${table}.due_at ELSE 'epoch' END`
