import type { Endpoint } from "./endpoints.ts"

export interface CodeSample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

/** How an operation is called, by the SDK and by hand. */
export const samplesOf = (
  endpoint: Endpoint,
  { body, hasAnswer }: { readonly body: unknown; readonly hasAnswer: boolean }
): ReadonlyArray<CodeSample> => [
  { lang: "TypeScript", label: "TypeScript", source: typescript(endpoint, body, hasAnswer) },
  { lang: "Shell", label: "curl", source: curl(endpoint, body) }
]

const typescript = (
  { access, name, params, path }: Endpoint,
  body: unknown,
  hasAnswer: boolean
): string => {
  const inWorkspace = path.includes("/{workspace_id}/")
  const ids = params.filter((param) => !(inWorkspace && param === "workspace_id")).map(camel)
  const inputs = body === undefined ? [] : [asLiteral(body)]
  const call = `await client.${name}(${[...ids, ...inputs].join(", ")})`
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
    hasAnswer ? `const answer = ${call}` : call
  ].join("\n")
}

const curl = ({ access, method, path }: Endpoint, body: unknown): string => {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  return [
    `curl "$SCHEDULING_URL${url}"`,
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

/** As people write it: names that need no quotes have none. */
const asLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:")

/** `task_id` → `taskId` */
const camel = (name: string) =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
