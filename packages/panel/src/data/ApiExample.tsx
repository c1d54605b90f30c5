import { Snippets } from "../ui/values/Code.tsx"
import { useWorkspace } from "./client.ts"

interface Request {
  /** The path relative to the workspace: `monitors/heartbeat`. */
  readonly path: string
  /** The method of the SDK client: `cron.create`. */
  readonly method: string
  readonly input: object
  /** The caller-chosen name, if it is the last segment of the path. */
  readonly name?: string
  /** True for endpoints that do not accept API keys. */
  readonly isForUsers?: boolean
}

/** Shows how to create a record with curl and TypeScript. */
export const ApiExample = ({ label, ...request }: Request & { readonly label: string }) => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets label={label} snippets={createSnippets(workspaceId, request)} />
    </div>
  )
}

/**
 * The client settings for a user. A user can be a member of several workspaces, whereas an API key
 * belongs to one.
 */
const asUser = (workspaceId: string): string => `workspaceId: "${workspaceId}",
  email: process.env.EMAIL ?? "",
  password: process.env.PASSWORD ?? ""`

const createSnippets = (
  workspaceId: string,
  { input, isForUsers = false, method, name, path }: Request
): ReadonlyArray<readonly [name: string, text: string]> => {
  const json = JSON.stringify(input, null, 2)
  return [
    [
      "curl",
      `curl ${name === undefined ? "" : "-X PUT "}${location.origin}/v1/workspaces/${workspaceId}/${path}${name === undefined ? "" : `/${name}`} \\
  -H "authorization: Bearer $${isForUsers ? "ACCESS_TOKEN" : "API_KEY"}" \\
  -H "content-type: application/json" \\
  -d '${json}'`
    ],
    [
      "TypeScript",
      `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({
  baseUrl: "${location.origin}",
  ${isForUsers ? asUser(workspaceId) : "apiKey: process.env.API_KEY"}
})

await client.${method}(${name === undefined ? "" : `"${name}", `}${json.replaceAll(/"(\w+)":/g, "$1:")})`
    ]
  ]
}
