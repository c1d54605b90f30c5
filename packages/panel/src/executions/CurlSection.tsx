import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import type { TaskCall } from "../data/tasks.ts"
import { Button } from "../ui/actions/Button.tsx"
import { showErrorToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { Code } from "../ui/values/Code.tsx"
import { curlOf, maskedHeaderVariables } from "./curl.ts"

/** Shows a curl command that repeats the call, optionally signed as the service signs its calls. */
export const CurlSection = ({
  call,
  executionId
}: {
  readonly call: TaskCall
  readonly executionId: string
}) => {
  const { api } = useWorkspace()
  const hidden = maskedHeaderVariables(call).join(", ")
  const [signature, setSignature] = useState<Readonly<Record<string, string>>>()
  const sign = async () => {
    try {
      const [{ data }, { testHeaders }] = await Promise.all([
        api.workspaces.getSigningSecrets({ url: call.url, limit: 10 }),
        import("@scheduling/sdk/webhooks")
      ])
      const secret = data.find(({ expires_at }) => expires_at === null)?.call_secret ?? ""
      setSignature(await testHeaders({ payload: call.body ?? "", secret, executionId }))
    } catch (error) {
      showErrorToast(error)
    }
  }
  return (
    <>
      <Code label="curl command" text={curlOf(call, executionId, signature)} />
      <div className="mt-2 flex items-start justify-between gap-4">
        <p className="text-xs text-faint">
          {signature === undefined
            ? "The call as the task currently defines it. The service also signs its calls, so that your server can verify them."
            : "This command is signed like a call from the service. The signature is valid for five minutes."}
          {hidden !== "" && ` Header values are masked: set ${hidden} in your shell first.`}
        </p>
        {canSign && (
          <RoleGate role="admin">
            <Button size="small" onClick={sign}>
              {signature === undefined ? "Add signature" : "Renew signature"}
            </Button>
          </RoleGate>
        )}
      </div>
    </>
  )
}

/** Browsers provide Web Crypto only in secure contexts: HTTPS and localhost. */
const canSign = globalThis.isSecureContext
