import type { HeartbeatMonitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { queries } from "../data/queries.ts"
import { askEvery, monitorOptions } from "../monitors/queries.ts"
import { monitorLink } from "../monitors/links.ts"
import { PingRecipes } from "../monitors/heartbeat/PingRecipes.tsx"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { Spinner } from "../ui/messages/Spinner.tsx"
import { Dot, toneOf } from "../ui/values/Status.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import * as bounds from "../data/bounds.ts"

/** Makes a heartbeat, and says what the job has to do. */
export const FirstHeartbeat = () => {
  const { api, workspaceId } = useWorkspace()
  const [made, setMade] = useState<HeartbeatMonitor>()
  const form = useForm({
    initial: { name: "Nightly backup", period_seconds: "86400" },
    send: async ({ name, period_seconds }) => {
      const created = await api.heartbeatMonitors.create({
        name,
        period_seconds: Number(period_seconds)
      })
      setMade(created)
      await queries.invalidateQueries({ queryKey: ["w", workspaceId, "monitors"] })
    }
  })
  if (made !== undefined) {
    return (
      <div className="flex flex-col gap-4">
        <p>
          Have the job request this URL when it finishes. Under Notifications you choose who is told
          when it does not.
        </p>
        <PingRecipes url={made.ping_url ?? ""} />
        <FirstPing monitor={made} />
      </div>
    )
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="What is the job called?" error={form.errorOf("name")}>
        <Input {...form.text("name")} {...bounds.HeartbeatMonitorInput.name} required />
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

/** Waits for the first ping, and says that it has come. */
const FirstPing = ({ monitor: made }: { readonly monitor: HeartbeatMonitor }) => {
  const { api, workspaceId } = useWorkspace()
  const { data: monitor = made } = useQuery({
    ...monitorOptions(api.heartbeatMonitors, workspaceId, made.id),
    // The event of the first ping comes with its status, if live events come at all.
    refetchInterval: ({ state }) => (state.data?.last_ping_at == null ? askEvery : false)
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
          <Dot tone={toneOf(monitor.status)} />
          <span>
            The first ping has come.{" "}
            <Link
              {...monitorLink({ ...made, kind: "heartbeat" })}
              className="font-medium text-live hover:underline"
            >
              Open the monitor
            </Link>
          </span>
        </>
      )}
    </p>
  )
}
