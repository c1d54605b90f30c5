import { Array, Console, Effect } from "effect"
import { AgentExitError } from "../ServiceRejection.ts"
import { findStatusFiles, isAlive, readStatus, type Status } from "./Status.ts"

/**
 * A running agent writes its status every twenty seconds, even while the service is unreachable.
 */
const silentAfterMs = 60_000

export const findStatusProblem = (
  { at, online, pid, problem }: Status,
  nowMs: number
): string | undefined => {
  if (nowMs - Date.parse(at) > silentAfterMs) {
    return `process ${pid} has written no status since ${at}: the agent hangs, or another program now has its process id`
  }
  if (problem !== null) {
    return `has not reached the service since ${problem.since}: ${problem.reason}`
  }
  return online ? undefined : "is not online yet"
}

/** Returns the worker's name, which is unknown until the first response of the service. */
const displayName = ({ worker }: Status) => (worker === "" ? "the agent" : worker)

const formatStatus = ({ at, done, pid, running, unsent, worker }: Status) =>
  [
    `worker     ${worker === "" ? "unknown until the service responds" : worker}`,
    `process    ${pid}`,
    `last heartbeat  ${at}`,
    `running    ${running}`,
    `unsent     ${unsent}`,
    `done       ${done}`
  ].join("\n")

/** Shows the agent that writes `file`, or all agents of this user if no file is given. */
export const showStatus = Effect.fnUntraced(function* (file: string | undefined, nowMs: number) {
  const files = file === undefined ? yield* findStatusFiles : [file]
  const found = Array.getSomes(yield* Effect.forEach(files, readStatus)).filter(isAlive)
  if (found.length === 0) {
    const where = file === undefined ? "for this user" : `with the status file ${file}`
    return yield* Effect.fail(new AgentExitError(`no agent is running ${where}`, 1))
  }
  yield* Console.log(found.map(formatStatus).join("\n\n"))
  const problems = found.flatMap((status) => {
    const problem = findStatusProblem(status, nowMs)
    return problem === undefined ? [] : [`${displayName(status)}: ${problem}`]
  })
  if (problems.length > 0) return yield* Effect.fail(new AgentExitError(problems.join("\n"), 1))
})
