import { assert, describe, it } from "@effect/vitest"
import {
  isCredentialHeader,
  maskedMessageHeaders,
  restoredHeaders,
  maskedDefinitionHeaders
} from "@scheduling/domain/calls/credentialHeaders"

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
    "Scheduling-Complete-Url",
    "x-forwarded-authorization",
    "X-Auth",
    "x-auth-key",
    "x_api_key",
    "Ocp-Apim-Subscription-Key",
    "x-jwt-assertion"
  ])("is %s", (name) => {
    assert.isTrue(isCredentialHeader(name))
  })

  it.each([
    "content-type",
    "accept",
    "x-scheduling-task-id",
    "idempotency-key",
    "x-cookies-eaten",
    "x-author",
    "www-authenticate",
    "x-sort-key"
  ])("is not %s", (name) => {
    assert.isFalse(isCredentialHeader(name))
  })

  it("is shown with a mask", () => {
    assert.deepStrictEqual(
      maskedMessageHeaders({ Accept: "text/plain", Authorization: "Bearer x" }),
      {
        Accept: "text/plain",
        Authorization: "•••"
      }
    )
  })

  it.each([
    "",
    "{{ input.key }}",
    "Bearer {{ steps.login.body.token }}",
    "TOKEN {{ steps.login.body }}",
    "basic  {{steps.login.body.a}}{{steps.login.body.b}} ",
    "ApiKey {{ input }}"
  ])("is shown if it is only a reference: %j", (value) => {
    const headers = { authorization: value }
    assert.strictEqual(maskedDefinitionHeaders(headers), headers)
  })

  it.each([
    "Bearer abc",
    "Bearer",
    "token",
    "Basic {{ input.user }}:abc",
    "Bearer abc{{ input }}",
    "{{ 'abc' }}",
    "{{ abc",
    "{{ '{{' }}",
    "Bearer {{ '{{' }}abc }}"
  ])("is not shown if it has a text of its own: %j", (authorization) => {
    assert.deepStrictEqual(maskedDefinitionHeaders({ authorization, "x-a": "b" }), {
      authorization: "•••",
      "x-a": "b"
    })
  })

  it("is shown if its name is not that of a credential", () => {
    const headers = { "x-a": "Bearer abc" }
    assert.strictEqual(maskedDefinitionHeaders(headers), headers)
  })

  it("is restored where the mask is sent back, under the name that is sent", () => {
    const stored = { authorization: "Bearer x", "x-api-key": "y", "x-a": "b" }
    const given = { Authorization: "•••", "X-Api-Key": "new", "x-token": "•••", "x-a": "•••" }
    assert.deepStrictEqual(restoredHeaders(given, stored), {
      Authorization: "Bearer x",
      "X-Api-Key": "new",
      "x-token": "•••",
      "x-a": "•••"
    })
  })

  it("is not taken from the prototype of an object", () => {
    const given: Record<string, string> = JSON.parse('{"__proto__": "a", "token": "•••"}')
    assert.deepStrictEqual(Object.entries(restoredHeaders(given, {})), [
      ["__proto__", "a"],
      ["token", "•••"]
    ])
  })
})
