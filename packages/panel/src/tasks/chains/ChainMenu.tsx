import type { Chain } from "@scheduling/sdk"
import { TaskMenu } from "../TaskMenu.tsx"
import { useChainActions } from "./useChainActions.ts"

/** All that can be done with a chain. */
export const ChainMenu = ({
  chain,
  onRemoved
}: {
  readonly chain: Chain
  readonly onRemoved?: () => void
}) => {
  const params = { workspaceId: chain.workspace_id, chainId: chain.id }
  return (
    <TaskMenu
      task={chain}
      actions={useChainActions()}
      editLink={{ to: "/w/$workspaceId/chains/$chainId/edit", params }}
      copyLink={{ to: "/w/$workspaceId/chains/new", params, search: { from: chain.id } }}
      warning="Runs that are under way are cancelled. Its executions stay readable."
      onRemoved={onRemoved}
    />
  )
}
