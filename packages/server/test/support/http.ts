import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as http from "node:http"
import { type Member, password, randomEmail, randomIp } from "./people.ts"
import { TestApp } from "./TestApp.ts"

export { type Member, password, randomEmail, randomIp }

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  readonly body: any
  readonly text: string
}

export interface AskOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The node that receives the request. */
  readonly at?: "url" | "otherUrl"
}

export const ask = Effect.fnUntraced(function* (
  method: string,
  path: string,
  options: AskOptions = {}
) {
  const app = yield* TestApp
  const { token } = options
  const body =
    options.body === undefined || typeof options.body === "string"
      ? options.body
      : JSON.stringify(options.body)
  const headers = {
    "x-forwarded-for": testFileAddress,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    ...options.headers
  }
  return yield* send(app[options.at ?? "url"] + path, { method, headers, body, agent: keptOpen })
})

const keptOpen = new http.Agent({ keepAlive: true })

/** Sends a request with Node's own client, which takes a third of the time of `fetch`. */
const send = (url: string, options: http.RequestOptions & { readonly body?: string | undefined }) =>
  Effect.callback<Answer>((resume) => {
    const request = http.request(url, options, (response) => {
      const answered = (text: string) => resume(Effect.succeed(answerOf(response, text)))
      if (response.headers["content-type"] === "text/event-stream") {
        // An event stream never ends.
        response.destroy()
        return answered("")
      }
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => answered(Buffer.concat(chunks).toString()))
      response.on("error", (error) => resume(Effect.die(error)))
    })
    request.on("error", (error) => resume(Effect.die(error)))
    request.end(options.body)
    return Effect.sync(() => request.destroy())
  })

const answerOf = (response: http.IncomingMessage, text: string): Answer => {
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(
      Object.entries(response.headersDistinct).flatMap(([name, values]) =>
        (values ?? []).map((value): [string, string] => [name, value])
      )
    ),
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined
  }
}

/**
 * The default client address for a test file's requests. Each file has a different address, because
 * throttles in the database outlive the file.
 */
export const testFileAddress = randomIp()

/** Creates a logged-in account with its first workspace, without sending requests if possible. */
export const signUp = () =>
  Effect.flatMap(TestApp, ({ makeAccount }) => makeAccount ?? registerAndLogIn())

export const registerAndLogIn = Effect.fnUntraced(function* () {
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

/** Creates an account that has accepted an invitation to a workspace. */
export const newMember = Effect.fnUntraced(function* (
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

export const createServiceAccount = Effect.fnUntraced(function* (
  member: Pick<Member, "workspace" | "access_token">,
  role = "admin"
) {
  const created = yield* ask("POST", `${member.workspace}/service-accounts`, {
    token: member.access_token,
    body: { name: `a tool, ${role}`, role }
  })
  return created.body as { readonly client_id: string; readonly client_secret: string }
})

/** Sends a form to the token endpoint. */
export const askToken = (
  form: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
  at: "url" | "otherUrl" = "url"
) =>
  ask("POST", "/v1/auth/token", {
    body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    at
  })

/** Obtains an access token for a service account. */
export const obtainToken = ({
  client_id,
  client_secret
}: {
  readonly client_id: string
  readonly client_secret: string
}) =>
  Effect.map(askToken({ grant_type: "client_credentials", client_id, client_secret }), ({ body }) =>
    String(body.access_token)
  )

/** Formats a response as `status error`, for assertions. */
export const statusAndError = ({ body, status }: Answer): string =>
  body?.detail === undefined ? String(status) : `${status} ${body.detail.error}`

/** Returns a response's text without the request's id, which is different in every error. */
export const textWithoutRequestId = ({ text }: Pick<Answer, "text">): string =>
  text.replace(/,"request_id":"[^"]*"/, "")

/** Sends one request with exactly these headers, given as alternating names and values. */
export const askRaw = Effect.fnUntraced(function* (
  method: string,
  path: string,
  rawHeaders: ReadonlyArray<string>
) {
  const { url } = yield* TestApp
  const { host } = new URL(url)
  const headers = ["host", host, "connection", "close", ...rawHeaders]
  return yield* send(url + path, { method, headers })
})

/** Returns `200` if the credential is accepted, and otherwise the rejection. */
export const accessStatus = (token: string, at: "url" | "otherUrl" = "url") =>
  Effect.map(ask("GET", "/v1/whoami", { token, at }), statusAndError)

export const runConcurrently = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

export const times = <A>(count: number, f: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => f(index))

export const logIn = (
  email: string,
  options: Omit<AskOptions, "body"> & { readonly password?: string } = {}
) =>
  ask("POST", "/v1/auth/login", {
    ...options,
    body: { email, password: options.password ?? password }
  })

/** Reads a whole list. Returns each page's `data`. */
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

export const assertErrorShape = ({ body, headers, status }: Answer) => {
  assert.strictEqual(headers.get("content-type"), "application/json")
  assert.deepStrictEqual(Object.keys(body), ["detail", "request_id"])
  assert.strictEqual(body.request_id, headers.get("x-request-id"))
  assert.isString(body.detail.error)
  assert.isString(body.detail.message)
  assert.isAtLeast(status, 400)
}
