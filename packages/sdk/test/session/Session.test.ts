import { SchedulingClient, type TokenPair } from "@scheduling/sdk"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import {
  fetchError,
  noContentResponse,
  errorResponse,
  neverResponds,
  jsonResponse,
  scriptedFetch,
  type ScriptedResponse
} from "../support/scriptedFetch.ts"

const pair = (name: string, expires_in = 900): TokenPair => ({
  access_token: `access-${name}`,
  refresh_token: `refresh-${name}`,
  token_type: "bearer",
  expires_in
})

const jwt = (exp: number) => `x.${btoa(JSON.stringify({ exp })).replaceAll("=", "")}.y`

const expired = () => errorResponse(401, "invalid_token")
const me = () => jsonResponse({ id: "u1" })

const clientOf = (
  tokens: Pick<TokenPair, "access_token" | "refresh_token">,
  ...steps: ReadonlyArray<ScriptedResponse>
) => {
  const { fetch, sent } = scriptedFetch(...steps)
  const kept: Array<TokenPair | undefined> = []
  const client = new SchedulingClient({
    tokens,
    onTokens: (renewed) => void kept.push(renewed),
    fetch,
    maxRetries: 0
  })
  /** Lists the requests in the form `GET /v1/auth/me access-1`. */
  const log = () =>
    sent.map(({ headers, path, verb }) =>
      [verb, path, headers.get("authorization")?.replace("Bearer ", "")].join(" ").trim()
    )
  return { client, kept, log, sent }
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31) })
})
afterEach(() => {
  vi.useRealTimers()
})

describe("tokens", () => {
  it("that are rejected are refreshed once for all calls, and each call is repeated", async () => {
    const { client, kept, log, sent } = clientOf(
      pair("1"),
      expired(),
      expired(),
      expired(),
      jsonResponse(pair("2")),
      me(),
      me(),
      me()
    )
    await Promise.all([client.auth.getMe(), client.auth.getMe(), client.auth.getMe()])
    expect(log()).toEqual([
      ...Array<string>(3).fill("GET /v1/auth/me access-1"),
      "POST /v1/auth/refresh",
      ...Array<string>(3).fill("GET /v1/auth/me access-2")
    ])
    expect(sent[3]?.body).toEqual({ refresh_token: "refresh-1" })
    expect(kept).toEqual([pair("2")])
  })

  it("of a changed password replace the earlier tokens", async () => {
    const { client, kept, log } = clientOf(pair("1"), jsonResponse(pair("2")), me())
    await client.auth.changePassword({ current_password: "old", new_password: "new" })
    await client.auth.getMe()
    expect(log()).toEqual(["POST /v1/auth/password access-1", "GET /v1/auth/me access-2"])
    expect(kept).toEqual([pair("2")])
  })

  it("of a changed password are awaited by a call that began earlier", async () => {
    let answerChange = (_: Response) => {}
    const byPath: ScriptedResponse = ({ headers, path }) => {
      if (path === "/v1/auth/password") return new Promise((resolve) => (answerChange = resolve))
      if (path === "/v1/auth/me")
        return headers.get("authorization") === "Bearer access-2" ? me() : expired()
      setTimeout(() => answerChange(jsonResponse(pair("2"))), 0)
      return errorResponse(401, "invalid_refresh_token")
    }
    const { client, log } = clientOf(pair("1"), byPath, byPath, byPath, byPath)
    const changing = client.auth.changePassword({ current_password: "old", new_password: "new" })
    const overtaken = client.auth.getMe()
    await vi.runAllTimersAsync()
    await Promise.all([changing, overtaken])
    expect(log().toSorted()).toEqual([
      "GET /v1/auth/me access-1",
      "GET /v1/auth/me access-2",
      "POST /v1/auth/password access-1",
      "POST /v1/auth/refresh"
    ])
    expect(log().at(-1)).toBe("GET /v1/auth/me access-2")
  })

  it("that another call has refreshed are used by a call that was rejected later", async () => {
    let answerLate = (_: Response) => {}
    const late = () => new Promise<Response>((resolve) => (answerLate = resolve))
    const { client, log } = clientOf(
      pair("1"),
      late,
      expired(),
      jsonResponse(pair("2")),
      me(),
      me()
    )
    const slow = client.auth.getMe()
    await client.auth.getMe()
    answerLate(expired())
    await slow
    expect(log().filter((line) => line.includes("refresh"))).toHaveLength(1)
    expect(log().at(-1)).toBe("GET /v1/auth/me access-2")
  })

  it("are refreshed half a minute before they expire, without a rejection", async () => {
    const { client, log } = clientOf(
      pair("1"),
      expired(),
      jsonResponse(pair("2")),
      me(),
      me(),
      jsonResponse(pair("3")),
      me()
    )
    await client.auth.getMe()
    vi.advanceTimersByTime(869_999)
    await client.auth.getMe()
    vi.advanceTimersByTime(1)
    await client.auth.getMe()
    expect(log().slice(3)).toEqual([
      "GET /v1/auth/me access-2",
      "POST /v1/auth/refresh",
      "GET /v1/auth/me access-3"
    ])
  })

  it("that were stored are refreshed first if they have expired", async () => {
    const seconds = Date.now() / 1000
    const stale = clientOf(
      { access_token: jwt(seconds + 30), refresh_token: "r" },
      jsonResponse(pair("2")),
      me()
    )
    await stale.client.auth.getMe()
    expect(stale.log()).toEqual(["POST /v1/auth/refresh", "GET /v1/auth/me access-2"])

    const fresh = clientOf({ access_token: jwt(seconds + 31), refresh_token: "r" }, me())
    await fresh.client.auth.getMe()
    expect(fresh.log()).toHaveLength(1)
  })

  it("that are rejected after a refresh too cause an error", async () => {
    const { client, log } = clientOf(pair("1"), expired(), jsonResponse(pair("2")), expired())
    await expect(client.auth.getMe()).rejects.toMatchObject({ name: "InvalidTokenError" })
    expect(log()).toHaveLength(3)
  })

  it("other rejections do not refresh", async () => {
    const { client, log } = clientOf(pair("1"), errorResponse(401, "invalid_credentials"))
    await expect(client.auth.getMe()).rejects.toMatchObject({ name: "InvalidCredentialsError" })
    expect(log()).toHaveLength(1)
  })

  it("the calls after a session has ended are not sent", async () => {
    const { client, kept, log } = clientOf(
      pair("1"),
      expired(),
      errorResponse(401, "invalid_refresh_token")
    )
    await expect(client.auth.getMe()).rejects.toMatchObject({ name: "InvalidRefreshTokenError" })
    await expect(client.auth.getMe()).rejects.toThrow(
      "GET /v1/auth/me needs a credential: the session has ended; log in again"
    )
    expect(kept).toEqual([undefined])
    expect(log()).toHaveLength(2)
  })

  it("a refresh without a response is retried while the old token is valid for 10 s", async () => {
    const { client, log } = clientOf(
      pair("1"),
      expired(),
      neverResponds,
      jsonResponse(pair("2")),
      me()
    )
    const started = Date.now()
    const call = client.auth.getMe()
    await vi.runAllTimersAsync()
    await call
    expect(log().filter((line) => line.includes("refresh"))).toHaveLength(2)
    expect(Date.now() - started).toBeLessThan(10_000)
  })

  it("a refresh without any response fails within those 10 s", async () => {
    const { client } = clientOf(pair("1"), expired(), neverResponds, neverResponds)
    const started = Date.now()
    const call = client.auth.getMe().catch((error) => error)
    await vi.runAllTimersAsync()
    expect(await call).toMatchObject({ name: "TimeoutError" })
    expect(Date.now() - started).toBeLessThan(10_000)
  })

  it("a failed refresh is forgotten, so that the next call tries again", async () => {
    const { client } = clientOf(
      pair("1"),
      expired(),
      fetchError("ECONNRESET"),
      fetchError("ECONNRESET"),
      expired(),
      jsonResponse(pair("2")),
      me()
    )
    const failed = client.auth.getMe().catch((error) => error)
    await vi.runAllTimersAsync()
    expect(await failed).toMatchObject({ name: "ConnectionError" })
    expect(await client.auth.getMe()).toEqual({ id: "u1" })
  })

  it("an abort ends the call that waits for a refresh, not the refresh", async () => {
    let answerLate = (_: Response) => {}
    const late = () => new Promise<Response>((resolve) => (answerLate = resolve))
    const { client, kept } = clientOf(pair("1"), expired(), expired(), late, me())
    const controller = new AbortController()
    const aborted = client.auth.getMe({ signal: controller.signal }).catch((error) => error)
    const other = client.auth.getMe()
    await vi.advanceTimersByTimeAsync(10)
    controller.abort("enough")
    expect(await aborted).toBe("enough")
    answerLate(jsonResponse(pair("2")))
    expect(await other).toEqual({ id: "u1" })
    expect(kept).toEqual([pair("2")])
  })

  it("calls wait until the new tokens are stored, and fail if that fails", async () => {
    const { fetch, sent } = scriptedFetch(expired(), jsonResponse(pair("2")))
    const onTokens = () => Promise.reject(new Error("disk full"))
    const client = new SchedulingClient({ tokens: pair("1"), onTokens, fetch })
    await expect(client.auth.getMe()).rejects.toThrow("disk full")
    expect(sent).toHaveLength(2)
  })

  it("are shared by withWorkspace", async () => {
    const { client, log } = clientOf(pair("1"), expired(), jsonResponse(pair("2")), me(), me())
    await client.withWorkspace("b").auth.getMe()
    await client.auth.getMe()
    expect(log().filter((line) => line.includes("refresh"))).toHaveLength(1)
  })
})

describe("a password", () => {
  const login = (...steps: ReadonlyArray<ScriptedResponse>) => {
    const { fetch, sent } = scriptedFetch(...steps)
    const client = new SchedulingClient({
      email: "a@example.com",
      password: "pw",
      fetch,
      maxRetries: 0
    })
    return { client, paths: () => sent.map(({ path }) => path), sent }
  }

  it("logs in with the first calls, once", async () => {
    const { client, paths, sent } = login(jsonResponse(pair("1")), me(), me())
    await Promise.all([client.auth.getMe(), client.auth.getMe()])
    expect(paths()).toEqual(["/v1/auth/login", "/v1/auth/me", "/v1/auth/me"])
    expect(sent[0]?.body).toEqual({ email: "a@example.com", password: "pw" })
  })

  it("logs in again when the session has ended", async () => {
    const { client, paths } = login(
      jsonResponse(pair("1")),
      expired(),
      errorResponse(401, "invalid_refresh_token"),
      jsonResponse(pair("2")),
      me()
    )
    expect(await client.auth.getMe()).toEqual({ id: "u1" })
    expect(paths().slice(2)).toEqual(["/v1/auth/refresh", "/v1/auth/login", "/v1/auth/me"])
  })

  it("is forgotten by logout", async () => {
    const { client, paths } = login(jsonResponse(pair("1")), me(), noContentResponse())
    await client.auth.getMe()
    await client.logout()
    await expect(client.auth.getMe()).rejects.toMatchObject({ name: "NoCredentialError" })
    expect(paths().filter((path) => path.endsWith("/login"))).toHaveLength(1)
  })

  it("that is wrong fails the call", async () => {
    const { client } = login(errorResponse(401, "invalid_credentials"))
    await expect(client.auth.getMe()).rejects.toMatchObject({ name: "InvalidCredentialsError" })
  })
})

describe("login, register and logout", () => {
  it("login returns a client and the tokens to store", async () => {
    const { fetch, sent } = scriptedFetch(jsonResponse(pair("1")), me())
    const kept: Array<unknown> = []
    const client = await SchedulingClient.login({
      email: "a@example.com",
      password: "pw",
      onTokens: (tokens) => void kept.push(tokens),
      fetch
    })
    await client.auth.getMe()
    expect(kept).toEqual([pair("1")])
    expect(sent[1]?.headers.get("authorization")).toBe("Bearer access-1")
  })

  it("register returns a client for the workspace of the account", async () => {
    const { fetch, sent } = scriptedFetch(
      jsonResponse({ user: { id: "u1" }, workspace: { id: "first" } }, 201),
      jsonResponse(pair("1"))
    )
    const client = await SchedulingClient.register({
      email: "a@example.com",
      password: "pw",
      name: "Ada",
      fetch
    })
    expect(await client.getWorkspaceId()).toBe("first")
    expect(sent.map(({ body }) => body)).toEqual([
      { email: "a@example.com", password: "pw", name: "Ada" },
      { email: "a@example.com", password: "pw" }
    ])
  })

  it("logout ends the session and forgets the tokens, also if it had ended before", async () => {
    const one = clientOf(pair("1"), noContentResponse())
    await one.client.logout()
    await expect(one.client.auth.getMe()).rejects.toMatchObject({ name: "NoCredentialError" })
    expect(one.kept).toEqual([undefined])

    const over = clientOf(pair("1"), expired(), errorResponse(401, "invalid_refresh_token"))
    await over.client.logout()
    expect(over.kept).toEqual([undefined])
  })

  it("logout without a response keeps the session", async () => {
    const { client, kept } = clientOf(pair("1"), fetchError("ECONNRESET"), me())
    await expect(client.logout()).rejects.toMatchObject({ name: "ConnectionError" })
    expect(await client.auth.getMe()).toEqual({ id: "u1" })
    expect(kept).toEqual([])
  })

  it("an API key has no session to end", async () => {
    await expect(new SchedulingClient({ apiKey: "k" }).logout()).rejects.toThrow(
      "There is no session"
    )
  })
})

describe("access tokens from a function of the user", () => {
  it("are requested before each call, and once more when one is rejected", async () => {
    const { fetch, sent } = scriptedFetch(me(), expired(), me(), expired(), expired())
    const asked: Array<string | undefined> = []
    const client = new SchedulingClient({
      accessToken: async (refused) => {
        asked.push(refused)
        return asked.includes("old") ? "new" : "old"
      },
      fetch,
      maxRetries: 0
    })
    await client.auth.getMe()
    await client.auth.getMe()
    await expect(client.auth.getMe()).rejects.toMatchObject({ code: "invalid_token" })
    expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer old",
      "Bearer old",
      "Bearer new",
      "Bearer new"
    ])
    expect(asked).toContain("new")
  })

  it("may be absent, so that the service decides", async () => {
    const { fetch, sent } = scriptedFetch(errorResponse(401, "missing_credentials"))
    const client = new SchedulingClient({ accessToken: async () => undefined, fetch })
    await expect(client.auth.getMe()).rejects.toMatchObject({ code: "missing_credentials" })
    expect(sent[0]?.headers.has("authorization")).toBe(false)
  })
})
