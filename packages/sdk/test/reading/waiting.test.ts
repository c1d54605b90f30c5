import { NotFoundError, SchedulingClient, WaitTimeoutError } from "@scheduling/sdk"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { ChainId, ChainRunId, CronTaskId, DelayedTaskId, ExecutionId } from "@scheduling/sdk"
import {
  errorResponse,
  jsonResponse,
  scriptedFetch,
  type SentRequest,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const id = "e-1" as ExecutionId
const running = jsonResponse.bind(null, { id, status: "running", finished_at: null })
const ended = jsonResponse.bind(null, {
  id,
  status: "failed",
  finished_at: "2026-01-31T09:30:00.131Z"
})

/** Responds as the service does when the requested waiting time has passed. */
const held = async ({ path }: SentRequest) => {
  await new Promise((resolve) => setTimeout(resolve, Number(/=(\d+)$/.exec(path)?.[1]) * 1_000))
  return running()
}

const clientOf = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  return {
    client: new SchedulingClient({ apiKey: "k", workspaceId: "ws", fetch, maxRetries: 0 }),
    asked: () => sent.map(({ path, verb }) => `${verb} ${path.replace("/v1/workspaces/ws", "")}`)
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
})

afterEach(() => {
  vi.useRealTimers()
})

/** Runs the timers that the promise waits for. */
const settle = async <A>(promise: Promise<A>) => {
  const result = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error })
  )
  await vi.runAllTimersAsync()
  return result
}

describe("waiting for an execution", () => {
  it("returns it with any result, after as many requests as necessary", async () => {
    const { asked, client } = clientOf(held, held, ended())
    const result = await settle(client.executions.wait(id))
    expect(result).toMatchObject({ value: { status: "failed" } })
    expect(asked()).toEqual(Array(3).fill("GET /executions/e-1?wait_seconds=30"))
    expect(Date.now()).toBe(60_000)
  })

  it("requests once a second if the service responds immediately", async () => {
    const { asked, client } = clientOf(running(), running(), ended())
    await settle(client.executions.wait(id))
    expect(asked()).toHaveLength(3)
    expect(Date.now()).toBe(2_000)
  })

  it("throws when the time has passed, and names the execution", async () => {
    const { asked, client } = clientOf(held, held, running(), running())
    const result = await settle(client.executions.wait(id, { timeoutMs: 40_500 }))
    const { error } = result as { readonly error: WaitTimeoutError }
    expect(error).toBeInstanceOf(WaitTimeoutError)
    expect(error.message).toBe("e-1 had not finished within 40500 ms; the run continues")
    expect(error.id).toBe("e-1")
    expect(asked().map((one) => one.split("=")[1])).toEqual(["30", "10", "0", "0"])
    expect(Date.now()).toBe(40_500)
  })

  it("explains what to do with the id of a task", async () => {
    const { client } = clientOf(errorResponse(404, "not_found", { resource: "execution" }))
    const { error } = (await settle(client.executions.wait(id))) as { readonly error: Error }
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.message).toBe(
      "404 It is not_found. If e-1 is the id of a task, executions.list({ task_id }) finds its executions."
    )
  })

  it("ends with its signal", async () => {
    const { client } = clientOf(running(), running())
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error("enough")), 500)
    const result = await settle(client.executions.wait(id, { signal: controller.signal }))
    expect(result).toEqual({ error: new Error("enough") })
    expect(Date.now()).toBe(500)
  })
})

describe("running and waiting", () => {
  it("runs a cron task once, and waits for that execution", async () => {
    const { asked, client } = clientOf(running(), held, ended())
    const result = await settle(client.cron.runAndWait("t-1" as CronTaskId))
    expect(result).toMatchObject({ value: { status: "failed" } })
    expect(asked()).toEqual([
      "POST /cron/t-1/run",
      "GET /executions/e-1?wait_seconds=30",
      "GET /executions/e-1?wait_seconds=30"
    ])
  })

  it("runs a delayed task now", async () => {
    const { asked, client } = clientOf(running(), ended())
    await settle(client.delayed.runAndWait("t-1" as DelayedTaskId))
    expect(asked()[0]).toBe("POST /delayed/t-1/run")
  })

  it("returns the run of a chain", async () => {
    const steps = [{ name: "one", execution: { status_code: 200, response_body: "ok" } }]
    const run = { id: "r-1" as ChainRunId, finished_at: "2026-01-31T09:30:00.131Z", steps }
    const { asked, client } = clientOf(running(), jsonResponse(run))
    const result = await settle(client.chains.runAndWait("c-1" as ChainId))
    expect(result).toEqual({ value: run })
    expect(asked()).toEqual(["POST /chains/c-1/run", "GET /chains/c-1/runs/e-1?wait_seconds=30"])
  })
})
