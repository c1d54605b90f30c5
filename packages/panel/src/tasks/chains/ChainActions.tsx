import type { Chain } from "@scheduling/sdk"
import { useNavigate } from "@tanstack/react-router"
import { Pause, Pencil, Play, RotateCcw } from "lucide-react"
import { Button, ButtonLink } from "../../ui/actions/Button.tsx"
import { Only } from "../../ui/role.tsx"
import { ChainMenu } from "./ChainMenu.tsx"
import { useChainActions } from "./useChainActions.ts"

export const ChainActions = ({ chain }: { readonly chain: Chain }) => {
  const { pause, resume, run } = useChainActions()
  const navigate = useNavigate()
  const params = { workspaceId: chain.workspace_id, chainId: chain.id }
  return (
    <Only role="editor">
      <Button look="main" icon={<Play className="size-4" />} onClick={() => run(chain)}>
        Run now
      </Button>
      {chain.schedule === null ? null : chain.status === "active" ? (
        <Button icon={<Pause className="size-4" />} onClick={() => pause(chain)}>
          Pause
        </Button>
      ) : (
        <Button icon={<RotateCcw className="size-4" />} onClick={() => resume(chain)}>
          Resume
        </Button>
      )}
      <ButtonLink
        to="/w/$workspaceId/chains/$chainId/edit"
        params={params}
        icon={<Pencil className="size-4" />}
      >
        Edit
      </ButtonLink>
      <ChainMenu
        chain={chain}
        onRemoved={() => void navigate({ to: "/w/$workspaceId/chains", params, replace: true })}
      />
    </Only>
  )
}
