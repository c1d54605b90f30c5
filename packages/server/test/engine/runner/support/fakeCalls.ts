import { Effect } from "effect"
import type { CallRequest } from "@scheduling/calls/CallRequest"
import type { CallResult } from "@scheduling/calls/CallResult"
import { callLayer } from "./engine.ts"

export type FakeCall = (request: CallRequest) => Effect.Effect<Partial<CallResult>>

/**
 * Creates fake calls that do not use the network. A test sets the response for each path. The
 * default response is 200.
 */
export const makeFakeCalls = () => {
  const answers = new Map<string, FakeCall>()
  const calls: Array<CallRequest> = []
  const pathOf = (request: CallRequest) => new URL(request.url).pathname
  return {
    answers,
    to: (path: string) => calls.filter((request) => pathOf(request) === path),
    layer: callLayer((request) =>
      Effect.suspend(() => {
        calls.push(request)
        return answers.get(pathOf(request))?.(request) ?? Effect.succeed({})
      })
    )
  }
}

export const failingWith =
  (status: number): FakeCall =>
  () =>
    Effect.succeed({ status_code: status, outcome: "retryable", retry_after_seconds: 0 })

export const urlOf = (path: string) => `http://127.0.0.1:9${path}`
