import type { IncidentDetail, SchedulingClient } from "@scheduling/sdk"
import { BellOff, Check, Eye, Play } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useRerun } from "../executions/useRerun.ts"
import { Button, buttonClasses } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Menu, MenuItem } from "../ui/actions/Menu.tsx"
import { ActionGrid } from "../ui/layout/ActionGrid.tsx"
import { runWithToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { now } from "../ui/values/clock.ts"
import { failedExecutionOf } from "./FailedExecution.tsx"
import { refetchIncidents } from "./queries.ts"

const snoozes = [
  ["For 1 hour", 1],
  ["For 4 hours", 4],
  ["For 1 day", 24],
  ["For 1 week", 168]
] as const

/**
 * Returns the API of the monitors that can be checked on demand. Undefined for other kinds and for
 * tasks.
 */
const checkedMonitors = (
  { dnsMonitors, httpMonitors, sslMonitors, tcpMonitors }: SchedulingClient,
  kind: IncidentDetail["subject"]["kind"]
) =>
  kind === "dns"
    ? dnsMonitors
    : kind === "http"
      ? httpMonitors
      : kind === "ssl"
        ? sslMonitors
        : kind === "tcp"
          ? tcpMonitors
          : undefined

/** The buttons for handling an open incident. */
export const IncidentActions = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { api, workspaceId } = useWorkspace()
  const rerun = useRerun()
  const { id, snoozed_until, status, subject } = incident
  const failed = failedExecutionOf(incident)
  const checked = checkedMonitors(api, subject.kind)
  const [isClosing, setClosing] = useState(false)
  if (status === "closed") return null

  const act = async (work: () => Promise<unknown>, done: string) => {
    await runWithToast(work, `The incident was ${done}`)
    await refetchIncidents(workspaceId)
  }
  const snooze = (until: string | null, done: string) =>
    act(() => api.incidents.snooze(id, { until }), done)
  const isSnoozed = snoozed_until !== null && Date.parse(snoozed_until) > now()

  return (
    <RoleGate role="editor">
      <ActionGrid>
        {status === "open" && (
          <Button
            look="main"
            icon={<Check />}
            onClick={() => act(() => api.incidents.acknowledge(id), "acknowledged")}
          >
            Acknowledge
          </Button>
        )}
        {failed !== undefined && (
          <Button icon={<Play />} onClick={() => rerun({ id: failed, task_id: subject.id })}>
            Run again
          </Button>
        )}
        {checked !== undefined && (
          <Button
            icon={<Eye />}
            onClick={() =>
              runWithToast(
                () => checked.check(subject.id),
                "The check was requested. The incident closes if it succeeds."
              )
            }
          >
            Check now
          </Button>
        )}
        {status === "open" && (
          <Menu
            label="Snooze incident"
            className={buttonClasses({}, undefined)}
            button={
              <span className="flex items-center gap-2" aria-hidden>
                <BellOff />
                Snooze
              </span>
            }
          >
            {snoozes.map(([label, hours]) => (
              <MenuItem
                key={label}
                onSelect={() =>
                  void snooze(new Date(now() + hours * 3_600_000).toISOString(), "snoozed")
                }
              >
                {label}
              </MenuItem>
            ))}
            {isSnoozed && (
              <MenuItem onSelect={() => void snooze(null, "unsnoozed")}>End the snooze</MenuItem>
            )}
          </Menu>
        )}
        <Button onClick={() => setClosing(true)}>Close</Button>
      </ActionGrid>
      <Confirm
        isOpen={isClosing}
        onClose={() => setClosing(false)}
        title={`Close the incident of ${subject.name}?`}
        action="Close"
        onConfirm={() => act(() => api.incidents.close(id), "closed")}
      >
        The incident will be closed although {subject.name} has not recovered. Nobody is notified of
        a recovery.
      </Confirm>
    </RoleGate>
  )
}
