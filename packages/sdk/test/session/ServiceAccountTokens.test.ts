import { SchedulingClient } from "@scheduling/sdk"
import { afterEach, describe, expect, it, vi } from "vitest"
import {
  errorResponse,
  jsonResponse,
  pageResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const token = (access_token: string, expires_in = 900) =>
  jsonResponse({ access_token, token_type: "Bearer", expires_in })

const clientOf = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  const client = new SchedulingClient({
    clientId: "the-id",
    clientSecret: "psk_secret",
    workspaceId: "ws-own",
    maxRetries: 0,
    fetch
  })
  return { client, sent, paths: () => sent.map(({ path }) => path.split("?")[0]) }
}

afterEach(() => void vi.useRealTimers())

describe("a client of a service account", () => {
  it("gets one token for all waiting calls, by a form", async () => {
    const { client, sent } = clientOf(token("one"), pageResponse([], null), pageResponse([], null))
    await Promise.all([client.workers.list(), client.members.list()])
    const [asked, ...calls] = sent
    expect(asked?.path).toBe("/v1/auth/token")
    expect(asked?.body).toEqual({
      grant_type: "client_credentials",
      client_id: "the-id",
      client_secret: "psk_secret"
    })
    expect(asked?.headers.has("authorization")).toBe(false)
    expect(calls.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer one",
      "Bearer one"
    ])
  })

  it("renews the token shortly before it expires, and when it is rejected", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] })
    const { client, paths, sent } = clientOf(
      token("one"),
      pageResponse([], null),
      pageResponse([], null),
      token("two"),
      pageResponse([], null),
      errorResponse(401, "invalid_token"),
      token("three"),
      pageResponse([], null)
    )
    await client.workers.list()
    vi.advanceTimersByTime(860_000)
    await client.workers.list()
    vi.advanceTimersByTime(20_000)
    await client.workers.list()
    await client.workers.list()
    expect(paths().filter((path) => path === "/v1/auth/token")).toHaveLength(3)
    expect(sent.at(-1)?.headers.get("authorization")).toBe("Bearer three")
  })

  it("fails with the code of the token endpoint", async () => {
    const refused = jsonResponse(
      { error: "invalid_client", error_description: "The client_id is unknown." },
      401
    )
    const { client } = clientOf(refused)
    await expect(client.workers.list()).rejects.toMatchObject({
      status: 401,
      code: "invalid_client",
      message: expect.stringContaining("The client_id is unknown.")
    })
  })

  it("requests its workspace", async () => {
    const { fetch, sent } = scriptedFetch(
      token("one"),
      jsonResponse({ kind: "service_account", workspace_id: "ws-tool", service_account: {} }),
      pageResponse([], null)
    )
    const client = new SchedulingClient({ clientId: "a", clientSecret: "b", fetch })
    await client.workers.list()
    expect(sent.at(-1)?.path).toContain("/ws-tool/")
  })

  it("rejects an empty secret", () => {
    expect(() => new SchedulingClient({ clientId: "a", clientSecret: "" })).toThrow(
      "clientSecret is empty"
    )
  })
})
