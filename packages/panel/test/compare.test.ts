import type { Attempt, ExecutionDetail } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { differencesOf, phasesOf } from "../src/executions/compare.ts"

const attempt = {
  number: 1,
  status_code: 200,
  response_headers: { date: "Mon", "x-version": "1" },
  response_body: '{"ok":true}',
  duration_ms: 100,
  dns_ms: 5,
  connect_ms: 5,
  tls_ms: null,
  wait_ms: 80,
  made_by: { kind: "node", id: "1", name: null },
  request: { method: "POST", url: "https://a.example/", headers: { "x-a": "1" }, body: null }
} as unknown as Attempt

const executionOf = (last: Partial<Attempt>) =>
  ({
    status: "succeeded",
    error: null,
    attempts_count: 1,
    attempts: [{ ...attempt, ...last }]
  }) as unknown as ExecutionDetail

describe("two executions", () => {
  it("differ in nothing that changes with each request or response", () => {
    const other = executionOf({
      response_headers: { date: "Tue", "x-version": "1" },
      request: {
        method: "POST",
        url: "https://a.example/",
        headers: { "x-a": "1", "Idempotency-Key": "2", "x-scheduling-execution-id": "2" },
        body: null
      }
    })
    expect(differencesOf(executionOf({}), other)).toEqual([])
  })

  it("differ in the request, the answer and a phase that takes much longer", () => {
    const other = executionOf({
      status_code: 500,
      response_headers: null,
      wait_ms: 900,
      duration_ms: 930,
      request: { method: "POST", url: "https://b.example/", headers: { "x-a": "1" }, body: null }
    })
    expect(differencesOf(executionOf({}), other)).toEqual([
      { field: "Status code", good: "200", this: "500" },
      { field: "URL", good: "POST https://a.example/", this: "POST https://b.example/" },
      { field: "Response header x-version", good: "1", this: undefined },
      { field: "Duration: Waiting for response", good: "80 ms", this: "900 ms" }
    ])
  })

  it("have a transfer that is the rest of the duration", () => {
    expect(phasesOf(attempt).at(-1)).toEqual(["Download", 10])
    expect(phasesOf({ ...attempt, connect_ms: null, dns_ms: null, wait_ms: null }).at(-1)).toEqual([
      "Download",
      null
    ])
  })
})
