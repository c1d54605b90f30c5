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
