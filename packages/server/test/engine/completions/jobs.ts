import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { ask, type Member, signUp } from "../../support/http.ts"
import { eventually } from "../../support/ServerProcess.ts"
import { TestApp } from "../../support/TestApp.ts"

/** A target's response to a call. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export const completesLater: Reply = { status: 202, headers: { "scheduling-complete": "later" } }

/**
 * Starts a target that records its calls' completion URLs in order. `reply` can be slow, and can
 * report the job as done before the target responds.
 */
export const startTarget = Effect.fnUntraced(function* (
  reply: (url: string | undefined, n: number) => Reply | Promise<Reply>
) {
  const urls: Array<string | undefined> = []
  const bodies: Array<string> = []
  const port = yield* httpTarget(async (request, response) => {
    const url = request.headers["scheduling-complete-url"]
    let body = ""
    for await (const chunk of request) body += chunk
    bodies.push(body)
    urls.push(typeof url === "string" ? url : undefined)
    const answer = await reply(urls.at(-1), urls.length)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  return { url: `http://127.0.0.1:${port}/job`, urls, bodies }
})

/** Sends a job's report to its completion URL. */
export const sendReport = async (url: string, body = "") => {
  const response = await fetch(url, { method: "POST", body })
  const { headers, status } = response
  assert.strictEqual(headers.get("cache-control"), "no-store")
  assert.match(headers.get("content-type") ?? "", /^text\/plain/)
  return `${status} ${(await response.text()).trimEnd()}`
}

export const reportTo = (url: string | undefined, body?: string) =>
  Effect.promise(() => sendReport(url ?? "", body))

/** Returns the equivalent URL on the other node. */
export const onOtherNode = Effect.fnUntraced(function* (url: string | undefined) {
  const app = yield* TestApp
  return (url ?? "").replace(app.url, app.otherUrl)
})

export const acceptedResponse = "200 OK"
export const supersededResponse = "409 too late: another attempt has begun"
export const contradictedResponse = "409 this attempt has already finished with a different result"
export const finishedResponse = "410 too late: this attempt has already finished"

export const completionClientOf = ({ access_token: token, workspace }: Member) => {
  const request = (method: string, at: string, body?: object) =>
    ask(method, workspace + at, { token, ...(body !== undefined && { body }) })
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  const until = (at: string, holds: (body: any) => boolean) =>
    Effect.flatMap(TestApp, ({ url }) =>
      eventually(
        at,
        async () => {
          const response = await fetch(url + workspace + at, {
            headers: { authorization: `Bearer ${token}` }
          })
          const body = await response.json()
          return holds(body) && body
        },
        20_000
      )
    )
  return {
    request,
    /** Creates a delayed task that is due now, and returns its execution. */
    begin: Effect.fnUntraced(function* (task: object) {
      const created = yield* request("POST", "/delayed", { delay_seconds: 0, ...task })
      assert.strictEqual(created.status, 201, created.text)
      return String(created.body.last_run.execution_id)
    }),
    execution: (id: string) => until(`/executions/${id}`, () => true),
    awaiting: (id: string) =>
      until(`/executions/${id}`, (body) => body.awaiting_completion_since !== null),
    ended: (id: string) => until(`/executions/${id}`, (body) => body.finished_at !== null),
    until
  }
}

export const setUpJobs = Effect.map(signUp(), (member) => ({
  member,
  ...completionClientOf(member)
}))
