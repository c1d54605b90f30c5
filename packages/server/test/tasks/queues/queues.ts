import { ask, type Member } from "../../support/http.ts"

/** Returns functions that send requests for queues, with a member's token or an API key. */
export const queueClientOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => {
  const queues = `${workspace}/queues`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", queues, {
        token,
        headers,
        body: { name: "Billing server", max_concurrency: 2, ...input }
      }),
    list: (query = "") => ask("GET", `${queues}${query}`, { token }),
    get: (id: string) => ask("GET", `${queues}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${queues}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${queues}/${id}`, { token }),
    act: (id: string, action: "pause" | "resume") =>
      ask("POST", `${queues}/${id}/${action}`, { token })
  }
}
