import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as http from "node:http"
import { TestApp } from "./TestApp.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer is what the assertions say it is
  readonly body: any
  readonly text: string
}

export interface Ask {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Which node is asked. */
  readonly at?: "url" | "otherUrl"
}

/** One request over real HTTP. */
export const ask = Effect.fnUntraced(function* (method: string, path: string, options: Ask = {}) {
  const app = yield* TestApp
  return yield* Effect.promise(async (signal): Promise<Answer> => {
    const response = await fetch(app[options.at ?? "url"] + path, {
      method,
      signal,
      headers: {
        "x-forwarded-for": ownAddress,
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers
      },
      ...(options.body === undefined
        ? {}
        : { body: typeof options.body === "string" ? options.body : JSON.stringify(options.body) })
    })
    // A stream never ends.
    const isStream = response.headers.get("content-type") === "text/event-stream"
    if (isStream) await response.body?.cancel()
    const text = isStream ? "" : await response.text()
    const isJson =
      response.headers.get("content-type")?.startsWith("application/json") === true && text !== ""
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined
    }
  })
})

export const password = "correct horse battery staple"

export const randomEmail = () => `${randomBytes(8).toString("hex")}@example.com`

/** A new address for each test, so that tests do not share a throttle. */
export const randomIp = () => `100.${[...randomBytes(3)].join(".")}`

/**
 * The address that the requests of a test file come from, unless they say otherwise. It differs per
 * file, because on a server wrong guesses outlive the file.
 */
export const ownAddress = randomIp()

export interface Member {
  readonly email: string
  readonly user_id: string
  readonly workspace: string
  readonly workspace_id: string
  readonly access_token: string
  readonly refresh_token: string
}

/** A new account that is logged in, with its first workspace. */
export const signUp = Effect.fnUntraced(function* () {
  const email = randomEmail()
  const headers = { "x-forwarded-for": randomIp() }
  const registered = yield* ask("POST", "/v1/auth/register", { body: { email, password }, headers })
  const login = yield* ask("POST", "/v1/auth/login", { body: { email, password }, headers })
  const workspace_id: string = registered.body.workspace.id
  return {
    email,
    user_id: registered.body.user.id,
    workspace: `/v1/workspaces/${workspace_id}`,
    workspace_id,
    access_token: login.body.access_token,
    refresh_token: login.body.refresh_token
  } satisfies Member
})

/** Somebody new who was invited to a workspace and has accepted. */
export const joined = Effect.fnUntraced(function* (
  { access_token, workspace }: Pick<Member, "workspace" | "access_token">,
  role: string
) {
  const member = yield* signUp()
  const invited = yield* ask("POST", `${workspace}/invitations`, {
    token: access_token,
    body: { email: member.email, role }
  })
  const accepted = yield* ask("POST", "/v1/invitations/accept", {
    token: member.access_token,
    body: { token: invited.body.token }
  })
  assert.strictEqual(accepted.status, 200, accepted.text)
  return member
})

export const createKey = Effect.fnUntraced(function* (
  member: Pick<Member, "workspace" | "access_token">,
  input: Readonly<Record<string, unknown>> = {}
) {
  const created = yield* ask("POST", `${member.workspace}/api-keys`, {
    token: member.access_token,
    body: { name: "a key", scopes: ["workspace:read"], ...input }
  })
  return created.body as { readonly id: string; readonly key: string; readonly key_prefix: string }
})

/** An answer as `status error`, which is what most assertions look at. */
export const outcome = ({ body, status }: Answer): string =>
  body?.detail === undefined ? String(status) : `${status} ${body.detail.error}`

/**
 * One request with exactly these headers, as names and values in turn. `fetch` would join two
 * headers of the same name.
 */
export const askRaw = Effect.fnUntraced(function* (
  method: string,
  path: string,
  rawHeaders: ReadonlyArray<string>
) {
  const { url } = yield* TestApp
  const { host } = new URL(url)
  return yield* Effect.callback<Answer>((resume) => {
    const headers = ["host", host, "connection", "close", ...rawHeaders]
    const request = http.request(url + path, { method, headers }, async (response) => {
      const text = (await response.toArray()).join("")
      const isJson = response.headers["content-type"]?.startsWith("application/json") === true
      resume(
        Effect.succeed({
          status: response.statusCode ?? 0,
          headers: new Headers(
            Object.entries(response.headersDistinct).flatMap(([name, values]) =>
              (values ?? []).map((value): [string, string] => [name, value])
            )
          ),
          text,
          body: isJson ? JSON.parse(text) : undefined
        })
      )
    })
    request.on("error", (error) => resume(Effect.die(error)))
    request.end()
  })
})

/** Whether a credential is accepted right now: `200`, or the refusal. */
export const standing = (token: string, at: "url" | "otherUrl" = "url") =>
  Effect.map(ask("GET", "/v1/whoami", { token, at }), outcome)

export const together = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

export const times = <A>(count: number, f: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => f(index))

export const logIn = (
  email: string,
  options: Omit<Ask, "body"> & { readonly password?: string } = {}
) =>
  ask("POST", "/v1/auth/login", {
    ...options,
    body: { email, password: options.password ?? password }
  })

/** Reads a whole list and returns the `data` of each page. */
export const readPages = Effect.fnUntraced(function* (path: string, token: string, limit: number) {
  const pages: Array<ReadonlyArray<Record<string, unknown>>> = []
  let cursor: string | null = ""
  do {
    const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`
    const { body }: Answer = yield* ask("GET", path + query, { token })
    pages.push(body.data)
    cursor = body.next_cursor
  } while (cursor !== null)
  return pages
})

/** Asserts that an answer has the one shape of an error. */
export const assertShape = ({ body, headers, status }: Answer) => {
  assert.strictEqual(headers.get("content-type"), "application/json")
  assert.isString(headers.get("x-request-id"))
  assert.deepStrictEqual(Object.keys(body), ["detail"])
  assert.isString(body.detail.error)
  assert.isString(body.detail.message)
  assert.isAtLeast(status, 400)
}
