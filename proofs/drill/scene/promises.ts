import type { ServerProcess } from "../../../packages/server/test/support/ServerProcess.ts"
import { type Ledger, refused, unanswered } from "./Load.ts"

export interface Recovery {
  readonly seconds: number
  /** The promised recovery time, which also limits the longest time without an acknowledgement. */
  readonly withinSeconds: number
  /** How long the drill itself made the service unavailable. */
  readonly awaySeconds?: number
}

export const delays = (ledger: Ledger, recovery: Recovery): ReadonlyArray<string> => {
  const { awaySeconds = 0, seconds, withinSeconds } = recovery
  const gapSeconds = ledger.longestGapMs / 1000
  return [
    ...(seconds > withinSeconds
      ? [`served requests again after ${seconds.toFixed(1)} s, promised within ${withinSeconds} s`]
      : []),
    ...(gapSeconds > awaySeconds + withinSeconds
      ? [`acknowledged nothing for ${gapSeconds.toFixed(1)} s`]
      : [])
  ]
}

export const hangs = (ledger: Ledger): ReadonlyArray<string> => [
  ...(ledger.answers().has(unanswered) ? [`requests without a response`] : []),
  ...(ledger.slowestMs > answeredWithinMs
    ? [`a response took ${(ledger.slowestMs / 1000).toFixed(1)} s`]
    : [])
]

/**
 * Lists unexpected responses. A fault outside the service may only cause a 503 or a failed
 * connection.
 */
export const unexpectedResponses = (ledger: Ledger): ReadonlyArray<string> =>
  [...ledger.answers().keys()]
    .filter((answer) => !/^(2..|503)$/.test(answer) && answer !== refused && answer !== unanswered)
    .map((answer) => `a response with status ${answer}`)

export const failures = (node: ServerProcess, mayLog?: string): ReadonlyArray<string> => [
  ...(isAlive(node.pid) ? [] : [`node ${node.pid} exited: ${node.stderr().slice(-300)}`]),
  ...node
    .stdout()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'))
    .filter((line) => mayLog === undefined || !line.includes(mayLog))
    .slice(0, 3)
    .map((line) => `node ${node.pid} logged ${line.slice(0, 300)}`)
]

// ---------------------------------------------------------------------------

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The limit of response times. Requests wait up to 15 s, and the machine may be busy. */
const answeredWithinMs = 17_000
