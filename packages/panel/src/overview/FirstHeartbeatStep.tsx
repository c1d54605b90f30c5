import type { HeartbeatMonitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"
import { pollMonitorMs, monitorOptions } from "../monitors/queries.ts"
import { monitorLink } from "../monitors/links.ts"
import { PingRecipes } from "../monitors/heartbeat/PingRecipes.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { Spinner } from "../ui/messages/Spinner.tsx"
import { StatusDot, toneOf } from "../ui/values/Status.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import * as bounds from "../data/bounds.ts"

export const FirstHeartbeatStep = () => {
  const { api, workspaceId } = useWorkspace()
  const [created, setCreated] = useState<HeartbeatMonitor>()
  const form = useForm({
    initial: { name: "Nightly backup", period_seconds: "86400" },
    send: async ({ name, period_seconds }) => {
      const monitor = await api.heartbeatMonitors.create({
        name,
        period_seconds: Number(period_seconds)
      })
      setCreated(monitor)
      await queryClient.invalidateQueries({ queryKey: ["w", workspaceId, "monitors"] })
    }
  })
  if (created !== undefined) {
    return (
      <div className="flex flex-col gap-4">
        <p>
          Let the job request this URL when it finishes. Under Notifications you choose who is
          notified when it does not.
        </p>
        <PingRecipes url={created.ping_url ?? ""} />
        <FirstPing monitor={created} />
      </div>
    )
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="Job name" error={form.errorOf("name")}>
        <Input {...form.text("name")} {...bounds.HeartbeatMonitorInput.name} required />
      </Field>
      <Field label="Interval" error={form.errorOf("period_seconds")}>
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
      <FormFooter form={form} action="Create heartbeat monitor" />
    </form>
  )
}

const FirstPing = ({ monitor: created }: { readonly monitor: HeartbeatMonitor }) => {
  const { api, workspaceId } = useWorkspace()
  const { data: monitor = created } = useQuery({
    ...monitorOptions(api.heartbeatMonitors, workspaceId, created.id),
    // Poll for the first ping, because live events may be unavailable.
    refetchInterval: ({ state }) => (state.data?.last_ping_at == null ? pollMonitorMs : false)
  })
  return (
    <p
      role="status"
      className="flex items-center gap-2.5 rounded-lg border border-line bg-sunken px-3.5 py-3"
    >
      {monitor.last_ping_at === null ? (
        <>
          <Spinner className="text-faint" />
          Waiting for the first ping.
        </>
      ) : (
        <>
          <StatusDot tone={toneOf(monitor.status)} />
          <span>
            The first ping has arrived.{" "}
            <Link
              {...monitorLink({ ...created, kind: "heartbeat" })}
              className="font-medium text-live hover:underline"
            >
              Show the monitor
            </Link>
          </span>
        </>
      )}
    </p>
  )
}
