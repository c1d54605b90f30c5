import { ask, type Member } from "../support/http.ts"

/** Returns functions that send requests for workers, with an admin's token. */
export const workerClientOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => {
  const workers = `${workspace}/workers`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", workers, { token, headers, body: { name: "Office", ...input } }),
    list: (query = "") => ask("GET", `${workers}${query}`, { token }),
    get: (id: string) => ask("GET", `${workers}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${workers}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${workers}/${id}`, { token }),
    act: (id: string, action: string, body?: object) =>
      ask("POST", `${workers}/${id}/${action}`, { token, body })
  }
}

/**
 * Returns functions that send an agent's requests to the node `home`, with the token of the agent's
 * worker.
 */
export const agentClientOf = (token: string, home: "url" | "otherUrl" = "url") => {
  const claimed = (query: object) =>
    `claim?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`
  const say = (what: string, body: object, at = home) =>
    ask("POST", `/v1/worker/${what}`, { token, body, at })
  return {
    hello: (input: object = {}) =>
      say("hello", { protocol: 1, version: "0.1.0", host: "rack2", slots: 4, ...input }),
    claim: (session: number, input: object = {}) =>
      ask("POST", `/v1/worker/${claimed({ session, slots: 4, wait_seconds: 0, ...input })}`, {
        token,
        at: home
      }),
    beat: (session: number, input: object = {}) => say("beat", { session, running: [], ...input }),
    results: (session: number, results: ReadonlyArray<object>, at = home) =>
      say("results", { session, results }, at)
  }
}

/** Creates the result of a call that was answered with 200. */
export const successResult = (call: { readonly run_id: string; readonly lease: string }) => ({
  run_id: call.run_id,
  lease: call.lease,
  outcome: "success",
  status_code: 200,
  response_body: '{"id":7}',
  error: null,
  retry_after_seconds: null,
  duration_ms: 0,
  ended_ago_ms: 0
})
