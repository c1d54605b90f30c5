import { useWorkspace } from "../data/client.ts"
import { Snippets } from "../ui/values/Code.tsx"

/** How to make a task without the panel. */
export const TaskExamples = ({
  input,
  noun
}: {
  readonly noun: "cron" | "delayed" | "chains"
  readonly input: object
}) => {
  const { workspaceId } = useWorkspace()
  const url = `${location.origin}/v1/workspaces/${workspaceId}/${noun}`
  const json = JSON.stringify(input, null, 2)
  return (
    <div className="text-left">
      <Snippets
        label="The same by API"
        snippets={[
          [
            "curl",
            `curl ${url} \\
  -H "authorization: Bearer $KEY" \\
  -H "content-type: application/json" \\
  -d '${json}'`
          ],
          [
            "TypeScript",
            `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({ apiKey: process.env.KEY })

await client.${noun}.create(${json.replaceAll(/"(\w+)":/g, "$1:")})`
          ]
        ]}
      />
    </div>
  )
}
