import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ask, signUp } from "../support/http.ts"

/** A value that every encoding changes. */
export const canary = "cnry-8dK2+/x \"q'\\é"
/** A value that is valid in a header. */
export const headerCanary = "cnry-plain-4711"

interface Arrived {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

/**
 * Starts a server that repeats the request in its response, in the forms that a careless server
 * could use.
 */
export const startEchoServer = Effect.gen(function* () {
  const arrived: Array<Arrived> = []
  const port = yield* httpTarget((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      const { headers, method, url: path } = request
      arrived.push({ method, path, headers, body })
      response.setHeader("x-echo", path ?? "")
      response.end([path, JSON.stringify(headers), body, ...Object.values(headers)].join("\n"))
    })
  })
  return { origin: `http://127.0.0.1:${port}`, port, arrived }
})

export const setUpSecrets = Effect.gen(function* () {
  const member = yield* signUp()
  const token = member.access_token
  const target = yield* startEchoServer
  const putSecret = (name: string, body: object, at: "url" | "otherUrl" = "url") =>
    ask("PUT", `${member.workspace}/secrets/${name}`, { token, body, at })
  const setSecrets = Effect.gen(function* () {
    const allowed_hosts = [target.origin]
    yield* putSecret("CANARY", { value: canary, allowed_hosts })
    yield* putSecret("HEADER", { value: headerCanary, allowed_hosts })
  })
  /** Runs a new cron task once. Returns its execution. */
  const run = Effect.fnUntraced(function* (call: object, request?: object) {
    const { body: task } = yield* ask("POST", `${member.workspace}/cron`, {
      token,
      body: { name: "Nightly", schedule: "0 0 1 1 *", method: "POST", ...call }
    })
    assert.isString(task.id, JSON.stringify(task))
    const { body: started } = yield* ask("POST", `${member.workspace}/cron/${task.id}/run`, {
      token,
      ...(request !== undefined && { body: request })
    })
    return (yield* ask("GET", `${member.workspace}/executions/${started.id}?wait_seconds=30`, {
      token
    })).body
  })
  return { member, putSecret, run, setSecrets, target, token }
})
