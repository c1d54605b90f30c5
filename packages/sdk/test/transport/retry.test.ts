import { describe, expect, it } from "vitest"
import { type Failure, isRepeatable, retryDelayMs } from "../../src/transport/retry.ts"

const answer = (status: number, retryAfter?: string): Failure => ({
  kind: "answer",
  status,
  retryAfter
})
const broken = (code: string): Failure => ({
  kind: "connection",
  cause: new TypeError("fetch failed", { cause: Object.assign(new Error(), { code }) })
})

const attempt = { number: 0, isRepeatable: true, now: Date.UTC(2026, 0, 31), random: 1 }
const delay = (failure: Failure, changes: Partial<typeof attempt> = {}) =>
  retryDelayMs(failure, { ...attempt, ...changes })

describe("the failures that are retried", () => {
  it.each([
    ["408", answer(408), true, true],
    ["429", answer(429), true, true],
    ["500", answer(500), true, false],
    ["502", answer(502), true, false],
    ["503", answer(503), true, false],
    ["400", answer(400), false, false],
    ["401", answer(401), false, false],
    ["404", answer(404), false, false],
    ["409", answer(409), false, false],
    ["409 of a request in progress", answer(409, "1"), true, false],
    ["422", answer(422), false, false],
    ["a redirect", answer(307), false, false],
    ["a timeout", { kind: "timeout" }, true, false],
    ["a lost connection", broken("ECONNRESET"), true, false],
    ["a refused connection", broken("ECONNREFUSED"), true, true],
    ["an unknown host", broken("ENOTFOUND"), true, true]
  ] as const)("%s", (_, failure, repeatable, always) => {
    expect(delay(failure) !== undefined).toBe(repeatable)
    expect(delay(failure, { isRepeatable: false }) !== undefined).toBe(always)
  })

  it.each([
    ["GET", undefined, true],
    ["DELETE", undefined, true],
    ["PUT", undefined, true],
    ["POST", undefined, false],
    ["PATCH", undefined, false],
    ["POST", "key", true]
  ])("%s with the key %s is repeatable: %s", (verb, key, expected) => {
    expect(isRepeatable(verb, key)).toBe(expected)
  })
})

describe("the wait between attempts", () => {
  it("doubles from half a second up to 8 s", () => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((number) => delay(answer(500), { number }))
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000])
  })

  it("subtracts up to a half at random", () => {
    expect(delay(answer(500), { random: 0 })).toBe(250)
    expect(delay(answer(500), { random: 0.5 })).toBe(375)
  })

  it.each([
    ["seconds", "3", 3000],
    ["a date", "Sat, 31 Jan 2026 00:00:07 GMT", 7000],
    ["less than the back-off", "0", 500],
    ["a date that has passed", "Fri, 30 Jan 2026 00:00:00 GMT", 500],
    ["nonsense", "soon", 500],
    ["a negative number", "-5", 500],
    ["half a minute", "30", 30_000],
    ["more than half a minute", "31", undefined]
  ])("honours Retry-After of %s", (_, header, expected) => {
    expect(delay(answer(429, header))).toBe(expected)
  })
})
