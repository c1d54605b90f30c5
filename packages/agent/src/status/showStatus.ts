import { Array, Console, Effect } from "effect"
import { AgentEnded } from "../refusals.ts"
import { findStatusFiles, isAlive, readStatus, type Status } from "./Status.ts"

/** An agent writes at least every twenty seconds, also while the service is away. */
const silentAfterMs = 60_000

/** The problem of a running agent, if any. */
export const problemOf = (
  { at, online, pid, problem }: Status,
  nowMs: number
): string | undefined => {
  if (nowMs - Date.parse(at) > silentAfterMs) {
    return `process ${pid} has written nothing since ${at}: it hangs, or another program has its process id now`
  }
  if (problem !== null) {
    return `has not reached the service since ${problem.since}: ${problem.reason}`
  }
  return online ? undefined : "is not online yet"
}

/** Unknown until the service has answered for the first time. */
const nameOf = ({ worker }: Status) => (worker === "" ? "the agent" : worker)

const tableOf = ({ at, done, pid, running, unsent, worker }: Status) =>
  [
    `worker     ${worker === "" ? "not known yet" : worker}`,
    `process    ${pid}`,
    `last beat  ${at}`,
    `running    ${running}`,
    `unsent     ${unsent}`,
    `done       ${done}`
  ].join("\n")

/** Shows the agent that writes `file`. Without a file it shows all agents that this user runs. */
export const showStatus = Effect.fnUntraced(function* (file: string | undefined, nowMs: number) {
  const files = file === undefined ? yield* findStatusFiles : [file]
  const found = Array.getSomes(yield* Effect.forEach(files, readStatus)).filter(isAlive)
  if (found.length === 0) {
    const knows = file === undefined ? "the files of this user know" : `${file} knows`
    return yield* Effect.fail(new AgentEnded(`no agent runs here, as far as ${knows}`, 1))
  }
  yield* Console.log(found.map(tableOf).join("\n\n"))
  const problems = found.flatMap((status) => {
    const problem = problemOf(status, nowMs)
    return problem === undefined ? [] : [`${nameOf(status)}: ${problem}`]
  })
  if (problems.length > 0) return yield* Effect.fail(new AgentEnded(problems.join("\n"), 1))
})
