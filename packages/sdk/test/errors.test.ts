import * as AuthErrors from "@scheduling/domain/auth/AuthErrors"
import {
  BillingDisabled,
  BillingUnavailable,
  PaymentFailed
} from "@scheduling/domain/billing/BillingErrors"
import { NotApprover } from "@scheduling/domain/executions/PendingApproval"
import * as DomainErrors from "@scheduling/domain/shared/Errors"
import * as Sdk from "@scheduling/sdk"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { errorClasses } from "../src/generated/errors.ts"
import { errorResponse, scriptedFetch } from "./support/scriptedFetch.ts"

const errorOf = async (response: Response) => {
  const { fetch } = scriptedFetch(response)
  const client = new Sdk.SchedulingClient({ apiKey: "k", fetch, maxRetries: 0 })
  return client.system.health().then(
    () => undefined,
    (error: unknown) => error
  )
}

describe("each code of the contract is a class", () => {
  const declared = Object.entries({
    ...AuthErrors,
    BillingDisabled,
    BillingUnavailable,
    PaymentFailed,
    NotApprover,
    ...DomainErrors
  }).flatMap(([name, one]) => ("code" in one ? [[one.code, name, one.status] as const] : []))

  it("and there are no others", () => {
    expect(Object.keys(errorClasses).toSorted()).toEqual(declared.map(([code]) => code).toSorted())
  })

  it.each(declared)("%s", async (code, name, status) => {
    const error = await errorOf(errorResponse(status, code))
    const Class = new Map<string, unknown>(Object.entries(errorClasses)).get(code)
    expect(error).toBeInstanceOf(Class)
    expect(error).toBeInstanceOf(Sdk.ApiError)
    expect(error).toBeInstanceOf(Sdk.SchedulingError)
    expect(error).toMatchObject({
      status,
      code,
      requestId: "req-1",
      message: `${status} It is ${code}.`
    })
    // The class sets its name with a literal, because minifiers rename classes.
    expect(error).toMatchObject({ name: expect.stringContaining(name.replace(/Failed|ed$/, "")) })
    expect(Sdk).toHaveProperty((error as Error).name, Class)
  })
})

describe("the fields of an error", () => {
  it.each([
    [
      new AuthErrors.InsufficientScope({ required_scope: "tasks:write" }),
      Sdk.InsufficientScopeError,
      { requiredScope: "tasks:write" }
    ],
    [new DomainErrors.NotFound({ resource: "chain" }), Sdk.NotFoundError, { resource: "chain" }],
    [new DomainErrors.RateLimited({ retry_after: 7 }), Sdk.RateLimitError, { retryAfter: 7 }],
    [
      new DomainErrors.Conflict({ resource: "task", field: "key", message: "It exists." }),
      Sdk.ResourceConflictError,
      { reason: "It exists.", resource: "task", field: "key", existingId: null }
    ],
    [
      new DomainErrors.QuotaExceeded({ quota: "cron_tasks", limit: 3, plan: "free" }),
      Sdk.QuotaExceededError,
      { quota: "cron_tasks", limit: 3, plan: "free" }
    ],
    [
      DomainErrors.ValidationFailed.at(["a", 0], "too_long", "must be at most 5 characters long"),
      Sdk.ValidationError,
      {
        issues: [
          { path: ["a", 0], code: "too_long", message: "a[0] must be at most 5 characters long." }
        ],
        message: "400 The request is not valid. a[0] must be at most 5 characters long.",
        reason: "The request is not valid. a[0] must be at most 5 characters long."
      }
    ]
  ])("%s", async (sent, Class, fields) => {
    const error = await errorOf(Response.json({ detail: sent.detail }, { status: 400 }))
    expect(error).toBeInstanceOf(Class)
    expect(error).toMatchObject(fields)
  })
})

describe("a class for each status that several codes share", () => {
  it.each([
    [400, "malformed_json", Sdk.BadRequestError],
    [401, "invalid_api_key", Sdk.AuthenticationError],
    [403, "insufficient_scope", Sdk.PermissionError],
    [409, "email_taken", Sdk.ConflictError],
    [409, "conflict", Sdk.ConflictError],
    [500, "internal_error", Sdk.ServerError],
    [503, "unavailable", Sdk.ServerError]
  ])("has the error of %i %s", async (status, code, Base) => {
    expect(await errorOf(errorResponse(status, code))).toBeInstanceOf(Base)
    const unknown = await errorOf(errorResponse(status, "unheard_of", { spout: "short" }))
    expect(unknown).toBeInstanceOf(Base)
    expect(unknown).toMatchObject({ name: Base.name, detail: { spout: "short" } })
  })

  it("leaves other unknown codes to ApiError", async () => {
    const error = await errorOf(errorResponse(418, "teapot", { spout: "short" }))
    expect(error).toMatchObject({ name: "ApiError", code: "teapot", detail: { spout: "short" } })
  })
})

it.each(["__proto__", "constructor", "toString"])(
  "the code %s is not used as the name of a class",
  async (code) => {
    expect(await errorOf(errorResponse(418, code))).toMatchObject({ name: "ApiError", code })
  }
)

describe("in a log", () => {
  it("an error becomes JSON with its message and the id of the request", async () => {
    const error = await errorOf(errorResponse(404, "not_found", { resource: "task" }))
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        name: "NotFoundError",
        message: "404 It is not_found.",
        status: 404,
        code: "not_found",
        requestId: "req-1",
        detail: { error: "not_found", message: "It is not_found.", resource: "task" }
      }
    })
    const plain = new Sdk.TimeoutError("No response within 5 ms")
    expect(JSON.stringify(plain)).toBe(
      '{"name":"TimeoutError","message":"No response within 5 ms"}'
    )
  })

  it("an error shows the id of the request, and not its headers", async () => {
    const error = await errorOf(errorResponse(404, "not_found"))
    expect(inspect(error)).toContain("requestId: 'req-1'")
    expect(inspect(error)).not.toContain("content-type")
    expect((error as Sdk.ApiError).headers.get("content-type")).toBe("application/json")
  })
})
