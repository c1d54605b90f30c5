import { useState } from "react"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { signInErrorMessage } from "./signInErrorMessage.ts"

/** Signs in as the user whom the authenticating proxy names. */
export const ProxyButton = ({ onSignedIn }: { readonly onSignedIn: () => unknown }) => {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [error, setError] = useState<unknown>(null)
  const signIn = async () => {
    setIsBusy(true)
    setProblem(undefined)
    setError(null)
    try {
      const refused = await session.signInByProxy()
      setProblem(refused)
      if (refused === undefined) await onSignedIn()
    } catch (failure) {
      setError(failure)
    }
    setIsBusy(false)
  }
  return (
    <div className="flex flex-col gap-3">
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {signInErrorMessage(problem, "the proxy")}
        </p>
      )}
      <Problem error={error} />
      <Button busy={isBusy} onClick={() => void signIn()}>
        Continue with your network account
      </Button>
    </div>
  )
}
