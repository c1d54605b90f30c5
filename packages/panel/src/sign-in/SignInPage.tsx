import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { AuthPage, textLink } from "./AuthPage.tsx"
import { isInvited } from "./isInvited.ts"
import { Invited } from "./Invited.tsx"
import { SignInForm } from "./SignInForm.tsx"
import { useInvitation } from "./useInvitation.ts"

export const SignInPage = () => {
  const { next } = useSearch({ from: "/sign-in" })
  const navigate = useNavigate()
  const [asksForCode, setAsksForCode] = useState(false)
  const invitation = useInvitation()
  // Somebody else begins with an empty form.
  const [times, setTimes] = useState(0)
  return (
    <AuthPage
      title={asksForCode ? "Enter your code" : "Sign in"}
      description={isInvited(next) ? <Invited invitation={invitation} /> : undefined}
      below={
        asksForCode ? (
          <button
            type="button"
            className={textLink}
            onClick={() => {
              setTimes(times + 1)
              setAsksForCode(false)
            }}
          >
            Sign in as somebody else
          </button>
        ) : (
          <>
            No account yet?{" "}
            <Link to="/register" search={next === undefined ? {} : { next }} className={textLink}>
              Create one
            </Link>
          </>
        )
      }
    >
      <SignInForm
        key={times}
        asksForCode={asksForCode}
        onCode={() => setAsksForCode(true)}
        onSignedIn={() => navigate({ href: next ?? "/", replace: true })}
      />
    </AuthPage>
  )
}
