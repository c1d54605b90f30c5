import { assert, describe, it } from "@effect/vitest"
import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import { CronTask } from "@scheduling/domain/cron/CronTask"
import * as ApiErrors from "@scheduling/domain/shared/Errors"
import { makeTargets, targetsAt } from "../contract/Contract.ts"
import type { RequestDraft } from "../exchange/RequestDraft.ts"
import type { Exchange } from "../exchange/Exchange.ts"
import { makeGenerators } from "../contract/Generate.ts"
import { learn } from "../Learn.ts"
import { judge } from "./Judge.ts"
import type { WireResponse } from "../exchange/Wire.ts"
import { type Account, type Credential, World } from "../world/World.ts"

const targets = makeTargets(makeGenerators({ seed: "judge", sink: "http://127.0.0.2:1", now: 0 }))
const here = targetsAt(targets)

const examples = CronTask.ast.annotations?.["examples"] ?? []
const [example] = examples as readonly [typeof CronTask.Type]
const { id, workspace_id } = example
const pak = (letter: string) => `pak_${letter.repeat(43)}`

const world = new World()
const account = (workspaces: Array<string>): Account => ({
  email: "a@example.com",
  password: "correct horse battery staple",
  isLasting: true,
  workspaces
})
const owner = account([workspace_id])
const stranger = account(["019a9f3c-5b1e-7c4a-9d2f-000000000000"])
world.addAccount(owner)
world.addAccount(stranger)

const keyWith = (letter: string, workspace: string, scope: string): Credential => {
  const key = { workspace, scopes: [scope] }
  const credential = { token: pak(letter), account: owner, isLasting: true, key }
  world.addKey(credential)
  return credential
}
const sessionOf = (account: Account, token: string): Credential => {
  const credential = { token, account, isLasting: true }
  world.addSession(credential)
  return credential
}
const reader = keyWith("R", workspace_id, "tasks:read")

const task = `/v1/workspaces/${workspace_id}/cron/${id}`
const tasks = `/v1/workspaces/${workspace_id}/cron`

interface Asked {
  readonly name: string
  readonly path?: string
  readonly method?: string
  readonly as?: Credential | undefined
  readonly flaws?: ReadonlyArray<string>
  readonly hopeless?: ReadonlyArray<"body" | "size">
  readonly payload?: unknown
  readonly requestId?: string
}

const [shownKey, shownToken] = [pak("S"), `pwk_${"S".repeat(43)}`]

const exchangeOf = (asked: Asked, answer: WireResponse): Exchange => {
  const { as = reader, flaws = [], hopeless = [], name, path = task, payload } = asked
  const target = targets.find((one) => one.name === name)
  if (target === undefined) throw new Error(`no ${name}`)
  const method = asked.method ?? target.method
  const headers: RequestDraft["headers"] = [["authorization", `Bearer ${as.token}`]]
  if (asked.requestId !== undefined) headers.push(["x-request-id", asked.requestId])
  const draft: RequestDraft = {
    target,
    credential: as,
    method,
    segments: path.split("/").slice(1),
    query: [],
    headers,
    payload,
    body: undefined,
    isChunked: false,
    secrets: ["correct horse battery staple"],
    flaws: [...flaws],
    hopeless: new Set(hopeless)
  }
  const request = { method, target: path, headers, body: undefined, isChunked: false }
  return { draft, request, answer, here: here(path.split("?")[0] ?? "") }
}

const complaints = (asked: Asked, answer: WireResponse): ReadonlyArray<string> =>
  judge(exchangeOf(asked, answer), world)

const answer = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {}
): WireResponse => {
  const usual = {
    "x-request-id": "one",
    "x-content-type-options": "nosniff",
    ...(body !== "" && { "content-type": "application/json" })
  }
  const entries = Object.entries({ ...usual, ...headers })
  return {
    status,
    headers: new Map(
      entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    ),
    text: typeof body === "string" ? body : JSON.stringify(body)
  }
}

const refusal = (
  error: { readonly detail: object; readonly headers: Readonly<Record<string, string>> },
  status: number,
  headers: Readonly<Record<string, string | undefined>> = {}
) => answer(status, { detail: error.detail, request_id: "one" }, { ...error.headers, ...headers })

const get: Asked = { name: "cron.get" }
const list: Asked = { name: "cron.list", path: `${tasks}?limit=2&status=active` }
const page = (...data: ReadonlyArray<object>) =>
  answer(200, { data, next_cursor: null, total: null })
const older = { ...example, id: id.replace(/1$/, "0") }
const eldest = { ...example, id: id.replace(/41$/, "00") }
const batch: Asked = {
  name: "cron.createMany",
  path: `${tasks}/batch`,
  as: keyWith("B", workspace_id, "tasks:write")
}
const { detail } = ApiErrors.ValidationFailed.at(["name"], "required", "is required")
const spoiled = { flaws: ["a flaw"] }

for (const [name, folder, shown] of [
  ["apiKeys.create", "api-keys", { key: shownKey }],
  ["workers.create", "workers", { token: shownToken }]
] as const) {
  const path = `/v1/workspaces/${workspace_id}/${folder}`
  learn(exchangeOf({ name, path, ...spoiled }, answer(201, shown)), world)
}

describe("the judge of the fuzzer", () => {
  it.each<readonly [what: string, asked: Asked, said: WireResponse]>([
    ["a record", get, answer(200, example)],
    [
      "one asked for in upper case",
      { ...get, path: `/v1/workspaces/${workspace_id.toUpperCase()}/cron/${id.toUpperCase()}` },
      answer(200, example)
    ],
    ["a page", list, page(example, older)],
    ["a refusal", get, refusal(new ApiErrors.NotFound({ resource: "task" }), 404)],
    [
      "headers too large, without a body for HEAD",
      { ...get, method: "HEAD", ...spoiled, requestId: "fuzz-1" },
      answer(431, "")
    ],
    [
      "no content",
      { name: "cron.delete", as: keyWith("W", workspace_id, "tasks:write") },
      answer(204, "")
    ],
    [
      "another method",
      { ...get, method: "PUT", ...spoiled },
      refusal(new ApiErrors.MethodNotAllowed({ allow: ["DELETE", "GET", "HEAD", "PATCH"] }), 405)
    ]
  ])("has nothing to say about %s", (_, asked, said) => {
    assert.deepStrictEqual(complaints(asked, said), [])
  })

  it.each<readonly [complaint: string, asked: Asked, said: WireResponse]>([
    ["500: the server failed", get, refusal(new ApiErrors.InternalError(), 500)],
    ["503: the server failed", get, refusal(new ApiErrors.Unavailable({ retry_after: 1 }), 503)],
    ["not an error object", get, answer(404, { error: "not_found" })],
    ["not an error object", get, answer(404, "Not Found")],
    ["conflict is not declared", get, refusal(new ApiErrors.Conflict({ resource: "task" }), 409)],
    ["not_found with 410", get, refusal(new ApiErrors.NotFound({ resource: "task" }), 410)],
    [
      "not as declared",
      get,
      answer(404, { detail: { error: "not_found", message: "x" }, request_id: "one" })
    ],
    [
      "request_id and x-request-id differ",
      get,
      answer(404, {
        detail: { error: "not_found", message: "x", resource: "task" },
        request_id: "two"
      })
    ],
    [
      "201 without a location",
      { name: "cron.create", as: keyWith("Q", workspace_id, "tasks:write"), path: tasks },
      answer(201, example)
    ],
    [
      "not as declared",
      get,
      answer(404, {
        detail: { error: "not_found", message: "x", resource: "task", sql: "SELECT" },
        request_id: "one"
      })
    ],
    ["not as declared", get, answer(200, { ...example, timeout_seconds: "30" })],
    ["not as declared", get, answer(200, { ...example, lease: 1 })],
    ["not as declared", get, answer(200, { ...example, status: undefined })],
    ["not as declared", get, answer(200, "{")],
    ["201 is not 200", get, answer(201, example)],
    [
      "a body where none",
      { name: "cron.delete", as: keyWith("V", workspace_id, "tasks:write") },
      answer(204, "{}")
    ],
    ["a body of type text/html", get, answer(200, example, { "content-type": "text/html" })],
    ["x-request-id one for fuzz-1", { ...get, requestId: "fuzz-1" }, answer(200, example)],
    ["no x-request-id", get, answer(200, example, { "x-request-id": undefined })],
    ["no nosniff", get, answer(200, example, { "x-content-type-options": undefined })],
    [
      "www-authenticate",
      { ...get, ...spoiled },
      refusal(new InvalidToken({}), 401, { "www-authenticate": undefined })
    ],
    [
      "retry-after",
      { name: "auth.login", path: "/v1/auth/login" },
      refusal(new ApiErrors.RateLimited({ retry_after: 3 }), 429, { "retry-after": "4" })
    ],
    [
      "allow: undefined",
      { ...get, method: "PUT", ...spoiled },
      refusal(new ApiErrors.MethodNotAllowed({ allow: [] }), 405, { allow: undefined })
    ],
    [
      "not_found, although the resource exists",
      { ...get, method: "PUT", ...spoiled },
      refusal(new ApiErrors.NotFound({ resource: "route" }), 404)
    ],
    [
      "for a path that is not in the contract",
      { ...get, path: "/v1/nothing", ...spoiled },
      answer(200, example)
    ],
    [
      "accepted despite its flaws",
      { ...get, ...spoiled, hopeless: ["size"] },
      answer(200, example)
    ],
    [
      "valid, but refused for name",
      get,
      refusal(ApiErrors.ValidationFailed.at(["name"], "invalid", "is not valid"), 422)
    ],
    [
      "valid, but refused with payload_too_large",
      get,
      refusal(new ApiErrors.PayloadTooLarge({}), 413)
    ],
    ["a valid credential", get, refusal(new InvalidToken({}), 401)],
    [
      "a secret of the request",
      get,
      answer(200, { ...example, name: "correct horse battery staple" })
    ],
    ["a secret of the request", get, answer(200, { ...example, name: reader.token })],
    ["a cacheable secret", get, answer(200, { ...example, key: pak("K") })],
    ["a secret that is shown only once", get, answer(200, { ...example, name: shownKey })],
    ["a secret that is shown only once", get, answer(200, { ...example, name: shownToken })],
    [
      "without a known credential",
      { ...get, as: { ...reader, token: `${reader.token}=` }, ...spoiled },
      answer(200, example)
    ],
    [
      "accepted without tasks:read",
      { ...get, as: keyWith("X", workspace_id, "workspace:read") },
      answer(200, example)
    ],
    [
      "API key of another workspace",
      { ...get, as: keyWith("Y", stranger.workspaces[0] ?? "", "tasks:read") },
      answer(200, example)
    ],
    [
      "requires a session",
      { name: "apiKeys.list", path: `/v1/workspaces/${workspace_id}/api-keys` },
      page()
    ],
    [
      "someone else's workspace",
      { ...get, as: sessionOf(stranger, "a.b.c") },
      answer(200, example)
    ],
    ["a different :task_id", get, answer(200, older)],
    ["of another workspace", get, answer(200, { ...example, workspace_id: id })],
    ["3 records, limit 2", list, page(example, older, eldest)],
    ["not newest first", list, page(older, example)],
    [
      "a next page, although this page is not full",
      list,
      answer(200, { data: [example], next_cursor: "AZqfPFsefEqdLz6LemxdQQ" })
    ],
    ["not filtered by status", list, page({ ...example, status: "paused" })],
    [
      "1 results for 2 items",
      { ...batch, payload: { items: [{}, {}] } },
      answer(200, { items: [{ status: 201, data: example }] })
    ],
    [
      "of another workspace",
      batch,
      answer(200, { items: [{ status: 201, data: { ...example, workspace_id: id } }] })
    ],
    [
      "url is not as requested",
      { ...batch, payload: { items: [{ url: "https://b.example" }] } },
      answer(200, { items: [{ status: 201, data: example }] })
    ],
    [
      "valid, but refused for name",
      { ...batch, payload: { items: [{}] } },
      answer(200, {
        items: [
          {
            status: 422,
            error: { detail }
          }
        ]
      })
    ],
    [
      "headers is not as requested",
      {
        name: "cron.update",
        as: keyWith("Z", workspace_id, "tasks:write"),
        payload: { headers: { authorization: "Bearer 3f9c" } }
      },
      answer(200, { ...example, headers: { authorization: "Bearer 3f9c" } })
    ],
    [
      "url is not as requested",
      {
        name: "cron.update",
        as: keyWith("Z", workspace_id, "tasks:write"),
        payload: { url: "https://b.example" }
      },
      answer(200, example)
    ]
  ])("complains: %s", (complaint, asked, said) => {
    const found = complaints(asked, said)
    assert.isTrue(
      found.some((one) => one.includes(complaint)),
      `${complaint} is not among ${JSON.stringify(found)}`
    )
  })
})
