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
    const text = await response.text()
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

/** An address of its own for each test, so that they do not share a throttle. */
export const randomIp = () => `100.${[...randomBytes(3)].join(".")}`

/** Where the requests of a test file come from, if they do not say: wrong guesses outlive it on a server. */
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

/** `status error`, as most assertions want to read an answer. */
export const outcome = ({ body, status }: Answer): string =>
  body?.detail === undefined ? String(status) : `${status} ${body.detail.error}`

/** One request with exactly these headers, in pairs: `fetch` would join two of one name. */
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

/** What a credential is worth right now: `200`, or the refusal. */
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

/** A whole list, as its pages: each the body's `data`. */
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

/** The one shape of an error. */
export const assertShape = ({ body, headers, status }: Answer) => {
  assert.strictEqual(headers.get("content-type"), "application/json")
  assert.isString(headers.get("x-request-id"))
  assert.deepStrictEqual(Object.keys(body), ["detail"])
  assert.isString(body.detail.error)
  assert.isString(body.detail.message)
  assert.isAtLeast(status, 400)
}
