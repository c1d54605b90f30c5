import type { Chain } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Ellipsis, Pause, Pencil, Play, RotateCcw, Trash2 } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { executionsChanged } from "../../executions/queries.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Confirm } from "../../ui/Dialog.tsx"
import { Menu, MenuItem } from "../../ui/Menu.tsx"
import { tell, tellProblem } from "../../ui/toast.ts"
import { chainsChanged } from "./queries.ts"
import { Only } from "../../ui/role.tsx"

export const ChainActions = ({ chain }: { readonly chain: Chain }) => {
  const { api, workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const [isRemoving, setRemoving] = useState(false)
  const params = { workspaceId, chainId: chain.id }
  const changed = () => Promise.all([chainsChanged(workspaceId), executionsChanged(workspaceId)])

  const act = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work()
      tell(`${chain.name} ${done}`)
    } catch (error) {
      tellProblem(error)
    }
    await changed()
  }

  const run = () =>
    act(async () => {
      const { id } = await api.chains.run(chain.id)
      await navigate({ to: "/w/$workspaceId/chains/$chainId", params, search: { run: id } })
    }, "was started")

  return (
    <Only role="editor">
      <Button look="main" icon={<Play className="size-4" />} onClick={run}>
        Run now
      </Button>
      {chain.schedule !== null &&
        (chain.status === "active" ? (
          <Button
            icon={<Pause className="size-4" />}
            onClick={() => act(() => api.chains.pause(chain.id), "is paused")}
          >
            Pause
          </Button>
        ) : (
          <Button
            icon={<RotateCcw className="size-4" />}
            onClick={() => act(() => api.chains.resume(chain.id), "is active again")}
          >
            Resume
          </Button>
        ))}
      <ButtonLink
        to="/w/$workspaceId/chains/$chainId/edit"
        params={params}
        icon={<Pencil className="size-4" />}
      >
        Edit
      </ButtonLink>
      <Menu
        label={`More for ${chain.name}`}
        className="grid size-8 place-items-center rounded-md text-faint hover:bg-sunken hover:text-ink"
        button={<Ellipsis className="size-4" />}
      >
        <MenuItem
          isDanger
          icon={<Trash2 className="size-4 text-bad" />}
          onSelect={() => setRemoving(true)}
        >
          Delete
        </MenuItem>
      </Menu>
      <Confirm
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title={`Delete ${chain.name}?`}
        action="Delete"
        onConfirm={async () => {
          await api.chains.remove(chain.id)
          tell(`${chain.name} was deleted`)
          void changed()
          await navigate({ to: "/w/$workspaceId/chains", params, replace: true })
        }}
      >
        Runs that are under way are cancelled. Its executions stay readable.
      </Confirm>
    </Only>
  )
}
