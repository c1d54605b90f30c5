import { SchedulingClient } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import {
  errorResponse,
  jsonResponse,
  scriptedFetch,
  type ScriptedResponse
} from "./support/scriptedFetch.ts"

const health = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch } = scriptedFetch(...steps)
  return new SchedulingClient({ fetch, maxRetries: 0 }).system.health()
}

const up = () => jsonResponse({ status: "ok", version: "1.2.3" })
const down = () => errorResponse(500, "internal_error")

describe("the result of a method is a promise", () => {
  it("for instanceof, Promise.resolve, all, race and allSettled", async () => {
    const call = health(up())
    expect(call).toBeInstanceOf(Promise)
    const answer = { status: "ok", version: "1.2.3" }
    expect(await call).toEqual(answer)
    expect(await Promise.resolve(call)).toEqual(answer)
    expect(await Promise.all([call, health(up())])).toEqual([answer, answer])
    expect(await Promise.race([call, new Promise(() => {})])).toEqual(answer)
    expect(await Promise.allSettled([health(down())])).toMatchObject([{ status: "rejected" }])
  })

  it("whose handlers may declare their types", async () => {
    const message: string | { readonly status: string } = await health(down()).catch(
      (error: Error) => error.message
    )
    expect(message).toBe("500 It is internal_error.")
    const name = await health(down()).then(
      () => "none",
      (error: Error) => error.name
    )
    expect(name).toBe("InternalError")
    const typed: Promise<{ readonly status: string }> = health(up())
    expect(await typed).toEqual({ status: "ok", version: "1.2.3" })
  })

  it("that runs finally once, and continues as a plain promise", async () => {
    let ran = 0
    const after = health(up()).finally(() => ran++)
    expect(Object.getPrototypeOf(after)).toBe(Promise.prototype)
    expect(await after).toEqual({ status: "ok", version: "1.2.3" })
    expect(ran).toBe(1)
  })

  it("that rejects once: a failure handled by withResponse is handled", async () => {
    const unhandled: Array<unknown> = []
    const keep = (error: unknown) => unhandled.push(error)
    process.on("unhandledRejection", keep)
    await health(down())
      .withResponse()
      .catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    process.off("unhandledRejection", keep)
    expect(unhandled).toEqual([])
  })
})
