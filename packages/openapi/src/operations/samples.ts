import type { Endpoint } from "../contract/endpoints.ts"
import type { CodeSample } from "../model.ts"

interface Sampled {
  readonly body: unknown
  readonly answer: "nothing" | "record" | "events"
}

/** Returns samples of a call with the SDK and with curl. */
export const samplesOf = (
  endpoint: Endpoint,
  { answer, body }: Sampled
): ReadonlyArray<CodeSample> => [
  { lang: "TypeScript", label: "TypeScript", source: typescript(endpoint, { answer, body }) },
  { lang: "Shell", label: "curl", source: curl(endpoint, { answer, body }) }
]

const typescript = (
  { access, name, params, path }: Endpoint,
  { answer, body }: Sampled
): string => {
  const inWorkspace = path.includes("/{workspace_id}/")
  const ids = params.filter((param) => !(inWorkspace && param === "workspace_id")).map(camel)
  const inputs = body === undefined ? [] : [asLiteral(body)]
  const call = `client.${name}(${[...ids, ...inputs].join(", ")})`
  const use = {
    nothing: `await ${call}`,
    record: `const answer = await ${call}`,
    events: `for await (const event of ${call}) console.log(event)`
  }
  const made =
    access.kind === "public"
      ? "new SchedulingClient()"
      : access.kind === "jwt"
        ? "await SchedulingClient.login({ email, password })"
        : "new SchedulingClient({ apiKey: process.env.SCHEDULING_API_KEY })"
  return [
    'import { SchedulingClient } from "@scheduling/sdk"',
    "",
    `const client = ${made}`,
    use[answer]
  ].join("\n")
}

const curl = ({ access, method, path }: Endpoint, { answer, body }: Sampled): string => {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  return [
    `curl ${answer === "events" ? "-N " : ""}"$SCHEDULING_URL${url}"`,
    ...(method === "get" ? [] : [`-X ${method.toUpperCase()}`]),
    ...(access.kind === "public"
      ? []
      : [`-H "Authorization: Bearer $${access.kind === "jwt" ? "ACCESS_TOKEN" : "API_KEY"}"`]),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
        ])
  ].join(" \\\n  ")
}

/** Formats a value as a literal without unnecessary quotes around names. */
const asLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:")

/** `task_id` → `taskId` */
const camel = (name: string) =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
