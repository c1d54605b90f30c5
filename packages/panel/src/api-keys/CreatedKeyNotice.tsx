import type { CreatedApiKey } from "@scheduling/sdk"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { Snippets } from "../ui/values/Code.tsx"
import { SecretShownOnce } from "../ui/values/SecretShownOnce.tsx"

export const CreatedKeyNotice = ({
  children,
  created
}: {
  readonly created: CreatedApiKey
  readonly children?: ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const readsTasks = created.scopes.includes("tasks:read")
  const url = `${location.origin}/v1/${readsTasks ? `workspaces/${workspaceId}/cron` : "whoami"}`
  return (
    <SecretShownOnce
      title="Save this key now. It cannot be shown again."
      label="key"
      secret={created.key}
    >
      {children}
      <Snippets
        label="Use the key"
        snippets={[
          ["curl", `curl ${url} \\\n  -H "authorization: Bearer ${created.key}"`],
          ["Environment", `SCHEDULING_URL=${location.origin}\nSCHEDULING_API_KEY=${created.key}`],
          [
            "TypeScript",
            `import { SchedulingClient } from "@scheduling/sdk"

// Reads the key from SCHEDULING_API_KEY.
const client = new SchedulingClient({ baseUrl: "${location.origin}" })

console.log(await client.${readsTasks ? "cron.list()" : "workspaces.whoami()"})`
          ]
        ]}
      />
    </SecretShownOnce>
  )
}
