import { useWorkspace } from "../../data/client.ts"
import { Snippets } from "../../ui/values/Code.tsx"

/** How to make a channel without the panel. */
export const ChannelExamples = () => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets
        label="Create a channel"
        snippets={[
          [
            "curl",
            `curl ${location.origin}/v1/workspaces/${workspaceId}/notifications/channels \\
  -H "authorization: Bearer $KEY" \\
  -H "content-type: application/json" \\
  -d '{
    "name": "Operations",
    "kind": "webhook",
    "config": { "url": "https://ops.example.com/alerts" }
  }'`
          ],
          [
            "TypeScript",
            `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({ apiKey: process.env.KEY })

await client.notifications.createChannel({
  name: "Operations",
  kind: "webhook",
  config: { url: "https://ops.example.com/alerts" }
})`
          ]
        ]}
      />
    </div>
  )
}
