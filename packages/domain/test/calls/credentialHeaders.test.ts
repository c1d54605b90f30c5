import { assert, describe, it } from "@effect/vitest"
import { isCredentialHeader, maskedHeaders } from "@scheduling/domain/calls/credentialHeaders"

describe("a header that looks like a credential", () => {
  it.each([
    "Authorization",
    "proxy-authorization",
    "Cookie",
    "set-cookie",
    "X-Api-Key",
    "apikey",
    "X-Auth-Token",
    "X-Client-Secret",
    "x-password",
    "X-Hub-Signature-256",
    "Scheduling-Complete-Url"
  ])("is %s", (name) => {
    assert.isTrue(isCredentialHeader(name))
  })

  it.each(["content-type", "accept", "x-scheduling-task-id", "idempotency-key", "x-cookies-eaten"])(
    "is not %s",
    (name) => {
      assert.isFalse(isCredentialHeader(name))
    }
  )

  it("is shown with a mask", () => {
    assert.deepStrictEqual(maskedHeaders({ Accept: "text/plain", Authorization: "Bearer x" }), {
      Accept: "text/plain",
      Authorization: "•••"
    })
  })
})
