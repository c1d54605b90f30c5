import { useWorkspace } from "../data/client.ts"
import { Snippets } from "../ui/values/Code.tsx"

/** How to make a key without the panel. */
export const KeyExamples = () => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets
        label="Create an API key"
        snippets={[
          [
            "curl",
            `curl ${location.origin}/v1/workspaces/${workspaceId}/api-keys \\
  -H "authorization: Bearer $ACCESS_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{
    "name": "CI deploys",
    "scopes": ["tasks:read", "tasks:write"],
    "expires_in_days": 90
  }'`
          ],
          [
            "TypeScript",
            `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({ email, password })

const { key } = await client.apiKeys.create({
  name: "CI deploys",
  scopes: ["tasks:read", "tasks:write"],
  expires_in_days: 90
})`
          ]
        ]}
      />
    </div>
  )
}
