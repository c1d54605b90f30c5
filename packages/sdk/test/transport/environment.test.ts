import { NoCredentialError, SchedulingClient } from "@scheduling/sdk"
import { afterEach, describe, expect, it, vi } from "vitest"
import {
  jsonResponse,
  pageResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const answering = (...steps: ReadonlyArray<ScriptedResponse>) => {
  const { fetch, sent } = scriptedFetch(...steps)
  return { fetch, sent }
}

const set = (variables: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

describe("the environment", () => {
  it("sets the URL of the service, the key and the workspace", async () => {
    set({
      SCHEDULING_API_KEY: " pak_env\n",
      SCHEDULING_URL: "https://scheduling.example.com/v1/",
      SCHEDULING_WORKSPACE_ID: "ws-env"
    })
    const urls: Array<string> = []
    const { fetch, sent } = answering(pageResponse([], null))
    const client = new SchedulingClient({
      fetch: (url, init) => {
        urls.push(url)
        return fetch(url, init)
      }
    })
    await client.cron.list()
    expect(urls).toEqual(["https://scheduling.example.com/v1/workspaces/ws-env/cron"])
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer pak_env")
  })

  it("enables a log of the requests, which has no key", async () => {
    set({ SCHEDULING_LOG: "debug", SCHEDULING_API_KEY: "pak_env" })
    const debug = vi.spyOn(console, "debug").mockReturnValue()
    const { fetch } = answering(pageResponse([], null), pageResponse([], null))
    await new SchedulingClient({ fetch, workspaceId: "ws" }).cron.list()
    const line = expect.stringMatching(/^GET \S+\/v1\/workspaces\/ws\/cron: 200 after \d+ ms/)
    expect(debug.mock.calls).toEqual([[line]])
    expect(JSON.stringify(debug.mock.calls)).not.toContain("pak_env")
    set({ SCHEDULING_LOG: "info" })
    await new SchedulingClient({ fetch, workspaceId: "ws" }).cron.list()
    expect(debug).toHaveBeenCalledTimes(1)
    debug.mockRestore()
  })

  it("is replaced by the options of the client", async () => {
    set({ SCHEDULING_API_KEY: "pak_env", SCHEDULING_WORKSPACE_ID: "ws-env" })
    const { fetch, sent } = answering(pageResponse([], null))
    await new SchedulingClient({ apiKey: "pak_own", workspaceId: "ws-own", fetch }).cron.list()
    expect(sent[0]?.path).toBe("/v1/workspaces/ws-own/cron")
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer pak_own")
  })

  it("does not replace a credential of the options that is undefined", async () => {
    set({ SCHEDULING_API_KEY: "pak_env" })
    const { fetch, sent } = answering()
    const missing: string | undefined = undefined
    expect(() => new SchedulingClient({ apiKey: missing, fetch })).toThrow("apiKey is undefined")
    const client = new SchedulingClient({ tokens: undefined, fetch })
    await expect(client.auth.getMe()).rejects.toBeInstanceOf(NoCredentialError)
    expect(sent).toHaveLength(0)
  })

  it("ignores empty variables", async () => {
    set({ SCHEDULING_API_KEY: "", SCHEDULING_URL: " ", SCHEDULING_WORKSPACE_ID: "" })
    const { fetch, sent } = answering(jsonResponse({ status: "ok", version: "1.2.3" }))
    const client = new SchedulingClient({ fetch })
    await client.system.health()
    expect(sent[0]?.headers.has("authorization")).toBe(false)
  })

  it("is not needed: edge runtimes and browsers have no process, or one without env", async () => {
    for (const process of [undefined, {}, { env: undefined }]) {
      vi.stubGlobal("process", process)
      const { fetch } = answering(jsonResponse({ status: "ok", version: "1.2.3" }))
      expect(await new SchedulingClient({ fetch }).system.health()).toEqual({
        status: "ok",
        version: "1.2.3"
      })
    }
  })

  it("may be inaccessible to the program", async () => {
    const env = new Proxy({}, { get: () => expect.fail("NotCapable: no access to env") })
    vi.stubGlobal("process", { env })
    const { fetch } = answering(jsonResponse({ status: "ok", version: "1.2.3" }))
    expect(await new SchedulingClient({ fetch }).system.health()).toEqual({
      status: "ok",
      version: "1.2.3"
    })
  })
})

describe("a call that needs a credential", () => {
  it("fails without a request if there is none, and explains how to set one", async () => {
    const { fetch, sent } = answering()
    const call = new SchedulingClient({ fetch }).cron.list()
    await expect(call).rejects.toThrow(
      "GET /v1/workspaces/{workspace_id}/cron needs a credential: set SCHEDULING_API_KEY, or pass"
    )
    expect(sent).toHaveLength(0)
  })
})

describe("the user agent", () => {
  it("names the client and the runtime, or is the value of the caller", async () => {
    const { fetch, sent } = answering(jsonResponse({}), jsonResponse({}))
    const client = new SchedulingClient({ fetch })
    await client.system.health()
    await client.system.health({ headers: { "User-Agent": "mine/1" } })
    expect(sent.map(({ headers }) => headers.get("user-agent"))).toEqual([
      expect.stringMatching(/^scheduling-sdk\/\d+\.\d+\.\d+ node\/\d+\./),
      "mine/1"
    ])
  })
})
