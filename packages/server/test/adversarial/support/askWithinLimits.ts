import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, ask, assertErrorShape, randomIp } from "../../support/http.ts"

/** The number of concurrent requests. Concurrency makes their waiting times overlap. */
export const concurrentRequests = 16

/** Returns the CPU time since the start, which does not depend on other load on the machine. */
const millisSpentSince = (start: NodeJS.CpuUsage) => {
  const { system, user } = process.cpuUsage(start)
  return (system + user) / 1_000
}

/** Asserts that a response is not an internal error and used little CPU time. */
const assertCalm = (answer: Answer, start: NodeJS.CpuUsage, what: string) => {
  assert.isBelow(answer.status, 500, `${what}: ${answer.text.slice(0, 500)}`)
  if (answer.status >= 400) assertErrorShape(answer)
  assert.isBelow(millisSpentSince(start), 2_000, what)
}

/** Sends a request that must not cause an internal error or use much CPU time. */
export const askWithinLimits = Effect.fnUntraced(function* (
  method: string,
  path: string,
  options: { readonly token: string; readonly body?: string; readonly type?: string }
) {
  const start = process.cpuUsage()
  const answer = yield* ask(method, path, {
    token: options.token,
    headers: {
      // Each request has a new address, so that no throttle rejects it.
      "x-forwarded-for": randomIp(),
      ...(options.type === undefined ? {} : { "content-type": options.type })
    },
    ...(options.body === undefined ? {} : { body: options.body })
  })
  assertCalm(answer, start, `${method} ${path} ${options.body?.slice(0, 100)}`)
  return answer
})

const without = (record: object, field: string): ReadonlyArray<string> =>
  Object.entries(record)
    .filter(([name]) => name !== field)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)

/**
 * Returns the body with this raw JSON as the value of a field. With several values, the field is
 * repeated.
 */
export const bodyWith = (example: object, field: string, ...written: ReadonlyArray<string>) =>
  `{${[...written.map((text) => `${JSON.stringify(field)}:${text}`), ...without(example, field)].join()}}`
