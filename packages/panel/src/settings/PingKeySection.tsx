import type { PingKey } from "@scheduling/sdk"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { Card } from "../ui/layout/Page.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { Code } from "../ui/values/Code.tsx"
import { ShortTime } from "../ui/values/Time.tsx"

/** Shows the workspace's ping key. It is a secret, so it is fetched on demand. */
export const PingKeySection = () => {
  const { api } = useWorkspace()
  const [pingKey, setPingKey] = useState<PingKey>()
  const [isRotating, setRotating] = useState(false)
  const isFirst = pingKey?.ping_key === null
  const action = isFirst ? "Create ping key" : "Rotate ping key"
  const form = useForm({
    initial: {},
    send: async () => setPingKey(await api.heartbeatMonitors.getPingKey())
  })
  return (
    <Card className="flex flex-col gap-4 p-5">
      <p className="text-soft">
        With the ping key, a job can ping any heartbeat monitor at the monitor's own key, instead of
        at a URL of its own.
      </p>
      {pingKey?.ping_url != null && <Urls pingUrl={pingKey.ping_url} />}
      {pingKey?.created_at != null && (
        <p className="text-sm text-faint">
          Created <ShortTime at={pingKey.created_at} />.
        </p>
      )}
      {isFirst && <p>This workspace has no ping key yet.</p>}
      <div className="flex flex-wrap gap-3">
        <form onSubmit={form.submit}>
          <FormFooter form={form} action="Show ping key" look="plain" needs="editor" />
        </form>
        <RoleGate role="admin">
          <Button icon={<RefreshCw />} onClick={() => setRotating(true)}>
            {action}
          </Button>
        </RoleGate>
      </div>
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title={isFirst ? "Create a ping key?" : "Rotate the ping key?"}
        action={action}
        onConfirm={async () => {
          setPingKey(await api.heartbeatMonitors.rotatePingKey())
          showSuccessToast(isFirst ? "The ping key was created" : "The ping key was rotated")
        }}
      >
        URLs with an old ping key stop working immediately. The ping URL of each monitor keeps
        working.
      </Confirm>
    </Card>
  )
}

const Urls = ({ pingUrl }: { readonly pingUrl: string }) => (
  <div className="flex flex-col gap-1">
    <p className="text-sm text-soft">
      For the monitor with the key “backup”. With ?create=1, the monitor is created if it does not
      exist.
    </p>
    <Code label="ping URL" text={`${pingUrl}/backup?create=1`} wrap />
  </div>
)
