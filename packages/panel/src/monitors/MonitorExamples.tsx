import { useWorkspace } from "../data/client.ts"
import { Snippets } from "../ui/values/Code.tsx"

/** How to make a first monitor without the panel. */
export const MonitorExamples = () => {
  const { workspaceId } = useWorkspace()
  return (
    <div className="text-left">
      <Snippets
        label="Create a heartbeat monitor"
        snippets={[
          [
            "curl",
            `curl ${location.origin}/v1/workspaces/${workspaceId}/monitors/heartbeat \\
  -H "authorization: Bearer $KEY" \\
  -H "content-type: application/json" \\
  -d '{
    "name": "Nightly backup",
    "schedule": "0 3 * * *",
    "grace_seconds": 600
  }'`
          ],
          [
            "TypeScript",
            `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({ apiKey: process.env.KEY })

const { ping_url } = await client.heartbeatMonitors.create({
  name: "Nightly backup",
  schedule: "0 3 * * *",
  grace_seconds: 600
})`
          ]
        ]}
      />
    </div>
  )
}
