rem cmd
@echo off
rem Joins this server to a Kubernetes cluster. Run it at each start: on a healthy node it changes nothing.
rem
rem   cloudbase-init   user data as it stands (the first line names its kind); set RESTART=cloudbase-init
rem   GCE              metadata key windows-startup-script-cmd, as it stands
rem   EC2              user data, between the script tags, with persist true
rem   Azure            Custom Script Extension: cmd /c join.cmd
rem
rem Fill in the two lines below, or put them into C:\ProgramData\winjoin-start\settings.cmd. The token comes from the
rem file C:\ProgramData\winjoin-start\token, which an image or a secret store writes; on GCE also from the metadata key
rem winjoin-token. What happens is written beside it: result.json, progress-N.ndjson, and the Application log.
setlocal
set "ENDPOINT=10.0.0.10:6443"
set "PIN=sha256:HASH"
set "ARGUMENTS="
set "RESTART=shutdown"
set "PROGRAM=C:\Program Files\winjoin\winjoin.exe"
set "FOLDER=C:\ProgramData\winjoin-start"

if not exist "%FOLDER%" mkdir "%FOLDER%"
rem Only SYSTEM and Administrators may read the token.
icacls "%FOLDER%" /inheritance:r /grant "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F" >nul
if exist "%FOLDER%\settings.cmd" call "%FOLDER%\settings.cmd"
if not exist "%FOLDER%\token" curl.exe -fs -m 5 -H "Metadata-Flavor: Google" -o "%FOLDER%\token" http://metadata.google.internal/computeMetadata/v1/instance/attributes/winjoin-token

rem A name of its own: a program of the last start may still have the last file open.
del "%FOLDER%\progress-*.ndjson" >nul 2>&1
"%PROGRAM%" join %ENDPOINT% --token-file "%FOLDER%\token" --discovery-token-ca-cert-hash %PIN% --install-features --on-failure rollback --join-timeout 30m --progress json -o json --output-file "%FOLDER%\result.json" %ARGUMENTS% 2>>"%FOLDER%\progress-%RANDOM%.ndjson"
set "CODE=%ERRORLEVEL%"

rem 6: a Windows feature was installed; after the restart this script goes on.
if not "%CODE%"=="6" exit /b %CODE%
if "%RESTART%"=="cloudbase-init" exit /b 1003
shutdown /r /t 5
exit /b 6
