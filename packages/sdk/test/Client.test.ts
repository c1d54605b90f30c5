import { Api } from "@scheduling/domain/Api"
import { endpointsOf } from "@scheduling/openapi/contract/endpoints"
import { type ClientOptions, SchedulingClient, SchedulingError } from "@scheduling/sdk"
import { SchemaAST } from "effect"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import {
  noContentResponse,
  errorResponse,
  jsonResponse,
  pageResponse,
  scriptedFetch,
  type ScriptedResponse,
  whoamiResponse
} from "./support/scriptedFetch.ts"

const clientOf = (options: ClientOptions, ...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  return { client: new SchedulingClient({ maxRetries: 0, ...options, fetch }), sent }
}

describe("the workspace of a call", () => {
  it("is requested once for an API key, even by simultaneous calls", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k" },
      whoamiResponse(),
      pageResponse([], null),
      pageResponse([], null)
    )
    await Promise.all([client.cron.list(), client.chains.list()])
    expect(sent.map(({ path }) => path).toSorted()).toEqual([
      "/v1/whoami",
      "/v1/workspaces/ws-own/chains",
      "/v1/workspaces/ws-own/cron"
    ])
    expect(await client.getWorkspaceId()).toBe("ws-own")
  })

  it("is requested again after a failure", async () => {
    const { client } = clientOf(
      { apiKey: "k" },
      errorResponse(503, "unavailable"),
      whoamiResponse(),
      pageResponse([], null)
    )
    await expect(client.cron.list()).rejects.toMatchObject({ code: "unavailable" })
    expect((await client.cron.list()).data).toEqual([])
  })

  it("is that of the client, of withWorkspace or of a single call", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k", workspaceId: "a" },
      pageResponse([], null),
      pageResponse([], null),
      pageResponse([], null)
    )
    await client.cron.list()
    await client.withWorkspace("b").cron.list()
    await client.cron.list({}, { workspaceId: "c" })
    expect(sent.map(({ path }) => path.split("/")[3])).toEqual(["a", "b", "c"])
  })

  it("is the only workspace of a user", async () => {
    const me = jsonResponse({ kind: "jwt", user: {} })
    const { client } = clientOf({ apiKey: "k" }, me, pageResponse([{ id: "only" }], null))
    expect(await client.getWorkspaceId()).toBe("only")
  })

  it.each([
    ["several", [{ id: "a" }, { id: "b" }], /several workspaces/],
    ["none", [], /not a member of a workspace/]
  ])("a user of %s has to name one", async (_, workspaces, message) => {
    const me = jsonResponse({ kind: "jwt", user: {} })
    const { client } = clientOf({ apiKey: "k" }, me, pageResponse(workspaces, null))
    await expect(client.cron.list()).rejects.toThrow(message)
  })

  it("is not requested if the path has none or is that of the workspace itself", async () => {
    const { client, sent } = clientOf({ apiKey: "k" }, pageResponse([], null), jsonResponse({}))
    await client.cron.listAll({ status: "active" })
    await client.workspaces.get("w1")
    expect(sent.map(({ path }) => path)).toEqual([
      "/v1/cron-tasks?status=active",
      "/v1/workspaces/w1"
    ])
  })
})

describe("every endpoint of the contract", () => {
  // A stream sends no request until it is read, so separate tests cover streams.
  const calls = endpointsOf(Api).filter(({ name }) => name !== "events.stream")

  it.each(calls.map((endpoint) => [endpoint.name, endpoint] as const))(
    "%s",
    async (name, endpoint) => {
      const { client, sent } = clientOf(
        { apiKey: "pak_x", workspaceId: "ws" },
        endpoint.method === "delete" ? noContentResponse() : pageResponse([], null)
      )
      const [group = "", method = ""] = name.split(".")
      const isScoped = endpoint.path.includes("{workspace_id}/")
      const ids = endpoint.params.filter((param) => !isScoped || param !== "workspace_id")
      const input = [
        ...(endpoint.payloads.length > 0 ? [{ some: "body" }] : []),
        ...(endpoint.query ? [{ limit: 5 }] : [])
      ]
      const call: unknown = Reflect.get(Reflect.get(client, group), method)
      if (typeof call !== "function") throw new Error("there is no such method")
      await call.apply(Reflect.get(client, group), [...ids, ...input])

      const filled = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, param: string) =>
        isScoped && param === "workspace_id" ? "ws" : param
      )
      expect(sent).toHaveLength(1)
      expect(sent[0]).toMatchObject({
        verb: endpoint.method.toUpperCase(),
        path: endpoint.query ? `${filled}?limit=5` : filled,
        body: endpoint.payloads.length > 0 ? { some: "body" } : undefined
      })
      const isPublic = endpoint.access.kind === "public"
      expect(sent[0]?.headers.get("authorization")).toBe(isPublic ? null : "Bearer pak_x")
      const declared = endpoint.headers?.ast
      const acceptsKey =
        declared !== undefined &&
        SchemaAST.isObjects(declared) &&
        declared.propertySignatures.some((header) => header.name === "idempotency-key")
      expect(sent[0]?.headers.has("idempotency-key")).toBe(acceptsKey)
    }
  )
})

it("a Date is sent in the service's time format, in a body and in a query", async () => {
  const { client, sent } = clientOf(
    { apiKey: "k", workspaceId: "ws" },
    jsonResponse({}),
    pageResponse([], null)
  )
  const at = new Date(Date.UTC(2026, 0, 31, 9, 30))
  await client.delayed.create({ url: "https://example.com", run_at: at })
  await client.executions.list({ from: at })
  expect(sent[0]?.body).toMatchObject({ run_at: "2026-01-31T09:30:00.000Z" })
  expect(sent[1]?.path).toContain("?from=2026-01-31T09%3A30%3A00.000Z")
})

describe("invalid input is rejected before a request", () => {
  const { client, sent } = clientOf({ apiKey: "k", workspaceId: "ws" })

  it.each(["", ".", "..", undefined, null, 7])("the id %j", async (id) => {
    await expect(client.cron.delete(id as string)).rejects.toThrow("task_id is not an id")
    expect(sent).toHaveLength(0)
  })

  it("an id cannot leave its segment of the path", async () => {
    const one = clientOf({ apiKey: "k", workspaceId: "ws" }, jsonResponse({}))
    await one.client.cron.get("../x/y?z#w")
    expect(one.sent[0]?.path).toBe("/v1/workspaces/ws/cron/..%2Fx%2Fy%3Fz%23w")
  })

  it.each([
    ["a line break", { "x-a": "b\r\nx-c: d" }],
    ["a name with a colon", { "x-a:": "b" }],
    ["a character no header holds", { "x-a": "→" }],
    ["another credential", { Authorization: "Bearer other" }],
    ["another content type", { "content-type": "text/plain" }],
    ["a key beside its option", { "Idempotency-Key": "k" }]
  ])("a header with %s", async (_, headers: Record<string, string>) => {
    await expect(client.system.health({ headers })).rejects.toBeInstanceOf(SchedulingError)
    expect(() => new SchedulingClient({ defaultHeaders: headers })).toThrow(SchedulingError)
    expect(sent).toHaveLength(0)
  })

  it.each(["", "with space", "naïve", "x".repeat(256)])(
    "the idempotency key %j",
    async (idempotencyKey) => {
      await expect(client.cron.run("t1", {}, { idempotencyKey })).rejects.toThrow(/^idempotencyKey/)
    }
  )

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 31])("a timeout of %d ms", async (timeoutMs) => {
    await expect(client.system.health({ timeoutMs })).rejects.toThrow(/^timeoutMs must be/)
    expect(() => new SchedulingClient({ timeoutMs })).toThrow(/^timeoutMs must be/)
  })

  it.each([
    "127.0.0.1:4000",
    "ftp://example.com",
    "https://user:pass@example.com",
    "https://example.com?a=b",
    "https://example.com#a",
    ""
  ])("the base URL %j", (baseUrl) => {
    expect(() => new SchedulingClient({ baseUrl })).toThrow(/^baseUrl/)
  })
})

describe("a credential", () => {
  it("that is undefined is reported as a variable that is not set", () => {
    const unset: string | undefined = undefined
    expect(() => new SchedulingClient({ apiKey: unset })).toThrow("apiKey is undefined")
    expect(() => new SchedulingClient({ apiKey: "" })).toThrow("apiKey is empty")
  })

  it.each(["secret\r\nx-evil: 1", "secret secret", "sécret"])("is never shown: %j", (apiKey) => {
    expect(() => new SchedulingClient({ apiKey })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("cret") })
    )
  })

  it("is in no representation of the client and in no error", async () => {
    const { client } = clientOf(
      { apiKey: "pak_secret", workspaceId: "ws" },
      new TypeError("fetch failed"),
      errorResponse(403, "forbidden")
    )
    const errors = [
      await client.cron.list().catch(String),
      await client.cron.list().catch((e) => e)
    ]
    const shown = [client, client.withWorkspace("b"), ...errors].map((one) =>
      inspect(one, { depth: 20, showHidden: true })
    )
    expect(shown.join() + JSON.stringify(client)).not.toContain("pak_secret")
  })
})

describe("withOptions", () => {
  it("keeps the credential and the other settings", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k", workspaceId: "ws", defaultHeaders: { "x-a": "1", "x-b": "1" } },
      pageResponse([], null)
    )
    const other = client.withOptions({ defaultHeaders: { "x-b": "2" }, maxRetries: undefined })
    expect(other).toBeInstanceOf(SchedulingClient)
    await other.cron.list()
    expect(sent[0]?.path).toBe("/v1/workspaces/ws/cron")
    const { headers } = sent[0] ?? {}
    expect(["authorization", "x-a", "x-b"].map((name) => headers?.get(name))).toEqual([
      "Bearer k",
      "1",
      "2"
    ])
  })

  it("changes the given settings only for the new client", async () => {
    const { client } = clientOf({ apiKey: "k", workspaceId: "ws" })
    const seen: Array<string> = []
    const other = client.withOptions({
      fetch: (url) => {
        seen.push(url)
        return Promise.resolve(jsonResponse({ status: "ok", version: "1.2.3" }))
      }
    })
    expect(await other.system.health()).toEqual({ status: "ok", version: "1.2.3" })
    await expect(client.system.health()).rejects.toThrow("was not expected")
    expect(seen).toHaveLength(1)
  })

  it("shares the session and the workspace", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k" },
      whoamiResponse(),
      pageResponse([], null),
      pageResponse([], null)
    )
    await client.cron.list()
    await client.withOptions({ timeoutMs: 1000 }).cron.list()
    expect(sent.map(({ path }) => path)).toEqual([
      "/v1/whoami",
      "/v1/workspaces/ws-own/cron",
      "/v1/workspaces/ws-own/cron"
    ])
  })
})

describe("request", () => {
  it("sends any request with the credential and the workspace", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k", workspaceId: "ws" },
      jsonResponse({ n: 1 }),
      jsonResponse({ n: 2 })
    )
    const path = "/v1/workspaces/{workspace_id}/new"
    const first = await client.request<{ n: number }>("GET", path, {
      query: { a: 1, b: undefined }
    })
    const { data, requestId } = await client
      .request("POST", path, { body: { x: true }, idempotencyKey: "key-1", workspaceId: "w2" })
      .withResponse()
    expect([first.n, data, requestId]).toEqual([1, { n: 2 }, "req-1"])
    expect(sent).toMatchObject([
      { verb: "GET", path: "/v1/workspaces/ws/new?a=1", body: undefined },
      { verb: "POST", path: "/v1/workspaces/w2/new", body: { x: true } }
    ])
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer k",
      "Bearer k"
    ])
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual([null, "key-1"])
  })

  it("lets the service decide whether a call needs a credential", async () => {
    const { client, sent } = clientOf({}, errorResponse(401, "missing_credentials"))
    await expect(client.request("GET", "/v1/whoami")).rejects.toMatchObject({
      name: "MissingCredentialsError"
    })
    expect(sent).toHaveLength(1)
  })

  it.each(["v1/whoami", "@evil.example", "https://evil.example", "", "/v1/cron?a=b", "/v1#a"])(
    "rejects the path %j",
    (path) => {
      const { client } = clientOf({ apiKey: "k" })
      expect(() => client.request("GET", path)).toThrow("path must start with a slash")
    }
  )
})

describe("the address", () => {
  it.each([
    ["https://example.com/v1", "/v1/health"],
    ["https://example.com/v1//", "/v1/health"],
    ["https://example.com//", "/v1/health"],
    ["https://example.com/jobs/v1/", "/jobs/v1/health"],
    ["https://example.com/v12", "/v12/v1/health"]
  ])("%s is taken as it is meant", async (baseUrl, path) => {
    const { client, sent } = clientOf({ baseUrl }, jsonResponse({ status: "ok", version: "1.2.3" }))
    await client.system.health()
    expect(sent[0]?.path).toBe(path)
  })

  it("may have a path, with or without a slash at its end", async () => {
    for (const baseUrl of ["https://example.com/scheduling", "https://example.com/scheduling/"]) {
      const { client, sent } = clientOf(
        { baseUrl },
        jsonResponse({ status: "ok", version: "1.2.3" })
      )
      await client.system.health()
      expect(sent[0]?.path).toBe("/scheduling/v1/health")
    }
  })

  it("headers of the call replace those of the client, in upper or lower case", async () => {
    const { client, sent } = clientOf(
      { defaultHeaders: { "X-A": "1", "x-b": "1" } },
      jsonResponse({})
    )
    await client.system.health({ headers: { "x-a": "2" } })
    expect(sent[0]?.headers.get("x-a")).toBe("2")
    expect(sent[0]?.headers.get("x-b")).toBe("1")
  })

  it("fields that are undefined are not sent", async () => {
    const { client, sent } = clientOf(
      { apiKey: "k", workspaceId: "ws" },
      pageResponse([], null),
      jsonResponse({})
    )
    await client.cron.list({ status: undefined, name: "a b&c" })
    await client.cron.update("t1", { name: undefined, body: null })
    expect(sent[0]?.path).toBe("/v1/workspaces/ws/cron?name=a+b%26c")
    expect(sent[1]?.body).toEqual({ body: null })
  })
})
