import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, ask, assertShape, randomIp } from "../../support/http.ts"

/** So many requests share what each of them would wait for alone. */
export const atOnce = 16

/** Of a processor, which a machine that has other things to do does not stretch. */
const millisSpentSince = (start: NodeJS.CpuUsage) => {
  const { system, user } = process.cpuUsage(start)
  return (system + user) / 1_000
}

/** No response is an error of ours, or takes much work. */
const assertCalm = (answer: Answer, start: NodeJS.CpuUsage, what: string) => {
  assert.isBelow(answer.status, 500, `${what}: ${answer.text.slice(0, 500)}`)
  if (answer.status >= 400) assertShape(answer)
  assert.isBelow(millisSpentSince(start), 2_000, what)
}

/** Asks what a server must not be upset by. */
export const askCalmly = Effect.fnUntraced(function* (
  method: string,
  path: string,
  options: { readonly token: string; readonly body?: string; readonly type?: string }
) {
  const start = process.cpuUsage()
  const answer = yield* ask(method, path, {
    token: options.token,
    headers: {
      // So that nothing is turned away for having been sent too often.
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

/** The body with this text in the place of one field, and twice if it has to be. */
export const bodyWith = (example: object, field: string, ...written: ReadonlyArray<string>) =>
  `{${[...written.map((text) => `${JSON.stringify(field)}:${text}`), ...without(example, field)].join()}}`
