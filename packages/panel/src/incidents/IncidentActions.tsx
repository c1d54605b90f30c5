import type { IncidentDetail } from "@scheduling/sdk"
import { BellOff, Check } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Menu, MenuItem } from "../ui/actions/Menu.tsx"
import { attempt } from "../ui/messages/toast.ts"
import { Only } from "../ui/role.tsx"
import { now } from "../ui/values/clock.ts"
import { incidentsChanged } from "./queries.ts"

const snoozes = [
  ["For 1 hour", 1],
  ["For 4 hours", 4],
  ["For 1 day", 24],
  ["For 1 week", 168]
] as const

/** The buttons for people who take care of an open incident. */
export const IncidentActions = ({
  incident: { id, snoozed_until, status, subject }
}: {
  readonly incident: IncidentDetail
}) => {
  const { api, workspaceId } = useWorkspace()
  const [isClosing, setClosing] = useState(false)
  if (status === "closed") return null

  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, `The incident was ${done}`)
    await incidentsChanged(workspaceId)
  }
  const snooze = (until: string | null, done: string) =>
    act(() => api.incidents.snooze(id, { until }), done)
  const isSnoozed = snoozed_until !== null && Date.parse(snoozed_until) > now()

  return (
    <Only role="editor">
      {status === "open" && (
        <>
          <Menu
            label="Snooze incident"
            className="inline-flex h-9 items-center gap-2 rounded-lg border border-edge bg-raised px-3 font-medium hover:bg-sunken"
            button={
              <>
                <BellOff className="size-4" aria-hidden /> <span aria-hidden>Snooze</span>
              </>
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
              <MenuItem onSelect={() => void snooze(null, "woken up")}>End the snooze</MenuItem>
            )}
          </Menu>
          <Button
            look="main"
            icon={<Check />}
            onClick={() => act(() => api.incidents.acknowledge(id), "acknowledged")}
          >
            Acknowledge incident
          </Button>
        </>
      )}
      <Button onClick={() => setClosing(true)}>Close incident</Button>
      <Confirm
        isOpen={isClosing}
        onClose={() => setClosing(false)}
        title={`Close the incident of ${subject.name}?`}
        action="Close"
        onConfirm={() => act(() => api.incidents.close(id), "closed")}
      >
        The incident ends although {subject.name} has not recovered. Nobody is notified of a
        recovery.
      </Confirm>
    </Only>
  )
}
