/* vmcompute.dll: HNSCall (version 1 of HNS), and of the Host Compute Service what version 1 CNI and
 * containerd call on their way there, each forwarded to hnsd. Letters: tests/hns/hnsd.h. */
#define HNS_DLL "vmcompute"
#include "tests/wine/hns_forward.h"

EXPORT_4(HNSCall, "ssso")

/* compute systems: win-bridge and win-overlay of apiVersion 1, containerd */
EXPORT_3(HcsEnumerateComputeSystems, "soo")
EXPORT_5(HcsCreateComputeSystem, "ssuHo")
EXPORT_3(HcsOpenComputeSystem, "sHo")
EXPORT_1(HcsCloseComputeSystem, "h")
EXPORT_3(HcsStartComputeSystem, "hso")
EXPORT_3(HcsShutdownComputeSystem, "hso")
EXPORT_3(HcsTerminateComputeSystem, "hso")
EXPORT_3(HcsPauseComputeSystem, "hso")
EXPORT_3(HcsResumeComputeSystem, "hso")
EXPORT_3(HcsSaveComputeSystem, "hso")
EXPORT_4(HcsGetComputeSystemProperties, "hsoo")
EXPORT_3(HcsModifyComputeSystem, "hso")
EXPORT_2(HcsModifyServiceSettings, "so")
EXPORT_4(HcsRegisterComputeSystemCallback, "hppH")
EXPORT_1(HcsUnregisterComputeSystemCallback, "h")
EXPORT_5(HcsCreateProcess, "hspHo")
EXPORT_4(HcsOpenProcess, "huHo")
EXPORT_1(HcsCloseProcess, "h")
EXPORT_2(HcsTerminateProcess, "ho")
EXPORT_3(HcsSignalProcess, "hso")
EXPORT_3(HcsGetProcessInfo, "hpo")
EXPORT_3(HcsGetProcessProperties, "hoo")
EXPORT_3(HcsModifyProcess, "hso")
EXPORT_3(HcsGetServiceProperties, "soo")
EXPORT_4(HcsRegisterProcessCallback, "hppH")
EXPORT_1(HcsUnregisterProcessCallback, "h")

/* layers: containerd's snapshotter */
EXPORT_2(ActivateLayer, "ds")
EXPORT_5(CopyLayer, "dsspu")
EXPORT_3(CreateLayer, "dss")
EXPORT_5(CreateSandboxLayer, "dsppu")
EXPORT_3(ExpandSandboxSize, "dsu")
EXPORT_2(DeactivateLayer, "ds")
EXPORT_2(DestroyLayer, "ds")
EXPORT_5(ExportLayer, "dsspu")
EXPORT_1(GetBaseImages, "o")
EXPORT_5(ImportLayer, "dsspu")
EXPORT_3(LayerExists, "dsU")
EXPORT_2(NameToGuid, "sG")
EXPORT_4(PrepareLayer, "dspu")
EXPORT_2(UnprepareLayer, "ds")
EXPORT_1(ProcessUtilityImage, "s")
EXPORT_2(GrantVmAccess, "ss")

/* Asked twice: first without a buffer, for the length. */
__declspec(dllexport) HRESULT WINAPI
    GetLayerMountPath(ULONG_PTR info, ULONG_PTR id, size_t *len, WCHAR *buffer);
HRESULT WINAPI GetLayerMountPath(ULONG_PTR info, ULONG_PTR id, size_t *len, WCHAR *buffer) {
    static const WCHAR volume[] = L"\\\\?\\Volume{11111111-2222-3333-4444-555555555555}\\";
    const ULONG_PTR values[HNS_ARGUMENTS_MAX] = {info, id};
    HRESULT hr = hns_forward(HNS_DLL, "GetLayerMountPath", "ds", values);

    if (hr)
        return hr;
    if (buffer && *len >= sizeof(volume) / sizeof(volume[0]))
        memcpy(buffer, volume, sizeof(volume));
    *len = sizeof(volume) / sizeof(volume[0]);
    return 0;
}

static void make_empty(const WCHAR *folder, const WCHAR *name) {
    WCHAR path[MAX_PATH * 2];
    HANDLE file;

    if (swprintf(path, sizeof(path) / sizeof(path[0]), L"%ls\\%ls", folder, name) < 0)
        return;
    file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file != INVALID_HANDLE_VALUE)
        (void)CloseHandle(file);
}

/* Leaves the empty disks behind that scratch layers are copied from. */
__declspec(dllexport) HRESULT WINAPI ProcessBaseImage(const WCHAR *path);
HRESULT WINAPI ProcessBaseImage(const WCHAR *path) {
    const ULONG_PTR values[HNS_ARGUMENTS_MAX] = {(ULONG_PTR)path};
    HRESULT hr = hns_forward(HNS_DLL, "ProcessBaseImage", "s", values);

    if (!hr) {
        make_empty(path, L"blank.vhdx");
        make_empty(path, L"blank-base.vhdx");
    }
    return hr;
}
