import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { queries } from "../data/queries.ts"
import { PingRecipes } from "../monitors/heartbeat/PingRecipes.tsx"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"

/** Makes a heartbeat, and says what the job has to do. */
export const FirstHeartbeat = () => {
  const { api, workspaceId } = useWorkspace()
  const [pingUrl, setPingUrl] = useState<string>()
  const form = useForm({
    initial: { name: "Nightly backup", period_seconds: "86400" },
    send: async ({ name, period_seconds }) => {
      const made = await api.heartbeatMonitors.create({
        name,
        period_seconds: Number(period_seconds)
      })
      setPingUrl(made.ping_url ?? undefined)
      await queries.invalidateQueries({ queryKey: ["w", workspaceId, "monitors"] })
    }
  })
  if (pingUrl !== undefined) {
    return (
      <div className="flex flex-col gap-4">
        <p>
          Have the job request this URL when it finishes. Under Notifications you choose who is told
          when it does not.
        </p>
        <PingRecipes url={pingUrl} />
      </div>
    )
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="What is the job called?" error={form.errorOf("name")}>
        <Input {...form.text("name")} required maxLength={200} />
      </Field>
      <Field label="How often does it run?" error={form.errorOf("period_seconds")}>
        <Select
          options={[
            ["300", "Every 5 minutes"],
            ["3600", "Every hour"],
            ["86400", "Every day"],
            ["604800", "Every week"]
          ]}
          {...form.text("period_seconds")}
        />
      </Field>
      <Problem error={form.problem} />
      <Button type="submit" look="main" busy={form.isBusy}>
        Create heartbeat
      </Button>
    </form>
  )
}
