//! Clouds of one region or of plain machines.

use super::structure::random;
use crate::check::{jumbled, mixed};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "alibaba-access-key-id",
        about: "Alibaba Cloud access key ids",
        keywords: &["LTAI"],
        pattern: Regex("LTAI[A-Za-z0-9]{12,24}"),
        right: word,
        check: jumbled,
        entropy: 3.0,
        hit: &["LTAIRv6", "7XNhwPH", "84"],
        miss: &["LTAINYq", "kQ84zs0", "x"],
        ..Rule::TOKEN
    },
    Rule {
        name: "alibaba-secret-key",
        about: "Alibaba Cloud secrets beside the name",
        keywords: &["alibaba", "aliyun", "licloud"],
        pattern: Beside("[A-Za-z0-9]{30}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["ALIYUN_", "ACCESS_", "KEY_SEC", "RET=mGn", "QVZnbY2", "65vJW0W", "p47ycTE", "19KlHm"],
        miss: &["ALIYUN_", "ACCESS_", "KEY_SEC", "RET=Pe7", "FnxeEMs", "eyeEqSk", "Yk0CA9E", "MXdLK"],
        ..Rule::NAMED
    },
    Rule {
        name: "tencent-secret-id",
        about: "Tencent Cloud secret ids",
        keywords: &["AKID"],
        pattern: Regex("AKID[A-Za-z0-9]{32}"),
        right: word,
        check: random,
        entropy: 3.5,
        hit: &["AKID3Vg", "Y8SmwNJ", "1vChuGi", "rDXnsjL", "jFsKAfA", "M"],
        miss: &["AKIDOWP", "J9qoomY", "puj8NpQ", "tXt6paD", "cd1Fm2w"],
        ..Rule::TOKEN
    },
    Rule {
        name: "tencent-secret-key",
        about: "Tencent Cloud secret keys beside the name",
        keywords: &["tencent", "qcloud"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["TENCENT", "CLOUD_S", "ECRET_K", "EY=OLDr", "QcIi3W9", "4bp5NcC", "2pd6pJN", "K2UPREp"],
        miss: &["TENCENT", "CLOUD_S", "ECRET_K", "EY=TdXZ", "HELoiXb", "SSmID76", "GjCQnO6", "ghM3Az"],
        ..Rule::NAMED
    },
    Rule {
        name: "volcengine-access-key-id",
        about: "Volcengine access key ids",
        keywords: &["AKLT"],
        pattern: Regex("AKLT[A-Za-z0-9_-]{43}(?:==)?"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["AKLTT5g", "7_EsEIo", "jCt-hhQ", "ODeVuf0", "F_uZPwC", "p1MlmWt", "3Zwla"],
        miss: &["AKLT825", "Gfkeou0", "eKM5H_k", "T9SBG9B", "aJTBdv3", "j7y59R5", "ZfA1"],
        ..Rule::TOKEN
    },
    Rule {
        name: "baidu-cloud-key",
        about: "Baidu Cloud keys",
        keywords: &["ALTAK-"],
        pattern: Regex("ALTAK-[A-Za-z0-9]{21}(?:/[a-f0-9]{40})?"),
        right: word,
        check: mixed,
        entropy: 3.0,
        hit: &["ALTAK-O", "Z39iH2c", "dt31Hlg", "Rv3wUd"],
        miss: &["ALTAK-1", "ag3qkyn", "KxUsW4H", "Wo3tI"],
        ..Rule::TOKEN
    },
    Rule {
        name: "yandex-api-key",
        about: "Yandex Cloud API keys",
        keywords: &["AQVN"],
        pattern: Regex("AQVN[A-Za-z0-9_-]{35,38}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["AQVNY-l", "31pnGQw", "BCH2quX", "XJy_OxQ", "uJ_22Nr", "E40j"],
        miss: &["AQVNz-B", "yz_W65N", "O5vb180", "acfA0QN", "6DqJ-qk", "Hch"],
        ..Rule::TOKEN
    },
    Rule {
        name: "yandex-iam-token",
        about: "Yandex Cloud IAM tokens",
        keywords: &["t1.9eu"],
        reach: 1024,
        pattern: Regex(r"t1\.9eu[A-Za-z0-9_-]{5,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
        right: token,
        entropy: 4.0,
        hit: &[
            "t1.9eud", "4--uJGJ", "FxUDZtq", "xgQI_X8", "pIKl2T-", "YIrBImD", "yn2FfQ6", "OcOs1uf",
            "YvLyonG", "euS.yX1", "IHeEgy1", "4IImYd5", "fn_KVKD", "Gk7fi0B", "4IIlL3e", "ZOMR0OD",
            "a-V4_FF", "dnh0QDn", "7veXmZJ", "83PCGpi", "RwzhT7o", "sgQX7k",
        ],
        miss: &[
            "t1.9eux", "m1iNWjn", "rhAfA87", "xWmT1Fd", "rdjNrDZ", "qqwK8hD", "-kfBFuW", "M5tqUzX",
            "lqz35bQ", "EWV.Osf", "XHFReW0", "BvctVMI", "AxCAak9", "g0wUIW6", "RwiJ0le", "IrLWyJQ",
            "ZERTeMT", "wsGZ3fs", "dW0Wo0S", "ozGJon_", "YTR2fHH", "kTNel",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "yandex-oauth-token",
        about: "Yandex OAuth tokens",
        keywords: &["y0_A", "y0__", "y1_A", "y2_A", "y3_A"],
        pattern: Regex("y[0-3]_[A-Za-z0-9_-]{55,58}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["y0_AT5h", "LRmvH9g", "kEqTW3L", "Ghur_wu", "tpoSkHO", "ImjIdbm", "FCCqLRq", "bXFTysu", "en"],
        miss: &["y0_AKho", "zR2hsWC", "X_-OqWz", "IRF-f4E", "n1ni6ZU", "KSYPsmp", "9b2tZb_", "IHE-41L", "E"],
        ..Rule::TOKEN
    },
    Rule {
        name: "yandex-secret-key",
        about: "Yandex storage secrets beside the name",
        keywords: &["yandex"],
        pattern: Beside("YC[A-Za-z0-9_-]{38}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &["yandex_", "secret_", "key: YC", "yV6En6H", "o9xC9GC", "b0ClDac", "g9i24jZ", "TKSln-c", "Few"],
        miss: &["yandex_", "secret_", "key: YC", "aP72VsR", "e83HEO7", "Ne855le", "aWM4C0H", "WSKcm35", "4G"],
        ..Rule::NAMED
    },
    Rule {
        name: "ibm-cloud-key",
        about: "IBM Cloud API keys beside the name",
        keywords: &[
            "ibm_cloud",
            "ibmcloud",
            "ibm-cloud",
            "ibm cloud",
            "ibm_api",
            "ibm_key",
            "ibm_token",
            "bluemix",
            "ic_api_key",
            "watson",
            "ibmapi",
            "ibmkey",
            "ibmtoken",
            "icapikey",
        ],
        pattern: Beside("[A-Za-z0-9_-]{44}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "IBMCLOU", "D_API_K", "EY=1Vnq", "j0TBPIw", "vl2VAVm", "dbFcmFu", "OUPsGlG", "91Buq5U", "6advt",
        ],
        miss: &[
            "IBMCLOU", "D_API_K", "EY=n3Lf", "UkKOWlP", "fppWMsv", "mMeeXyU", "EMqXhlD", "xXR6x4W", "h7qO",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "digitalocean-token",
        about: "DigitalOcean personal, OAuth and refresh tokens",
        keywords: &["dop_v1_", "doo_v1_", "dor_v1_"],
        pattern: Regex("do[opr]_v1_([a-f0-9]{64})"),
        right: word,
        entropy: 2.5,
        hit: &[
            "dop_v1_", "2ab5010", "985c403", "d3b2cec", "2358f25", "0aab26a", "1933d7d", "6324d6a",
            "0eaafdc", "d12370e", "c",
        ],
        miss: &[
            "dop_v1_", "217f4fd", "095a2f1", "41e7a19", "b93c766", "4cf6cba", "3fbcbcf", "97cdb6f",
            "9495a29", "c13a760",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "digitalocean-spaces-key",
        about: "DigitalOcean Spaces access keys",
        keywords: &["DO00"],
        pattern: Regex("DO00[A-Z0-9]{16}"),
        right: word,
        check: random,
        entropy: 3.0,
        hit: &["DO00TDN", "66E9091", "WY0XGD"],
        miss: &["DO00N1I", "EL3SSDM", "39Q5U"],
        ..Rule::TOKEN
    },
    Rule {
        name: "digitalocean-legacy-token",
        about: "DigitalOcean tokens of older accounts beside the name",
        keywords: &["digitalocean", "digital_ocean", "digital-ocean", "do_token", "do_api", "dotoken"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "DIGITAL", "OCEAN_T", "OKEN=e8", "59c2c1a", "382b2c6", "3811fa1", "c77737b", "081faec",
            "1cd8cf5", "c82f96e", "c8fffd4", "051f31",
        ],
        miss: &[
            "DIGITAL", "OCEAN_T", "OKEN=5e", "2f82f6c", "420c422", "dcd1c14", "e0b3e6d", "ec13c25",
            "97c9495", "e4617ac", "f1ce5ab", "eca47",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "linode-token",
        about: "Linode tokens beside the name",
        keywords: &["linode"],
        pattern: Beside("[a-f0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &[
            "LINODE_", "TOKEN=c", "2fa4cbd", "79fb6b4", "41e55cd", "6277501", "7ed3db8", "fcfa953",
            "98884f8", "59f77ba", "a5f72d3",
        ],
        miss: &[
            "LINODE_", "TOKEN=9", "245f0a4", "43b04d6", "aff141e", "ed10cef", "24c99fa", "f915aa3",
            "c7dfdfa", "86d0526", "a4a337",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "vultr-key",
        about: "Vultr API keys beside the name",
        keywords: &["vultr"],
        pattern: Beside("[A-Za-z0-9]{36}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["VULTR_A", "PI_KEY=", "A0BQI09", "Y97XAXH", "H0MEXJO", "Y48B45M", "6VQOEZX", "S"],
        miss: &["VULTR_A", "PI_KEY=", "DMIF6TS", "TA2KFIY", "QXQZKC3", "MBI6M5N", "VGMZ9K2"],
        ..Rule::NAMED
    },
    Rule {
        name: "hetzner-token",
        about: "Hetzner Cloud tokens beside the name",
        keywords: &["hcloud", "hetzner"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "HCLOUD_", "TOKEN=I", "zIUyoD1", "AF2xgvY", "iXVIZRA", "Gs3wU24", "20gMFXd", "fWzTJzC",
            "UCmdrAg", "vpR1FkF", "qR2HAY6",
        ],
        miss: &[
            "HCLOUD_", "TOKEN=e", "fYh6wrc", "He6azbF", "UYqAhcD", "snZCHKr", "zJVceZb", "BiUEzKx",
            "UN1lFQA", "SYvsC6c", "ryGoPG",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "hetzner-dns-token",
        about: "Hetzner DNS tokens beside the name",
        keywords: &["hetzner"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["HETZNER", "_DNS_TO", "KEN=yN0", "ks1fFWb", "8BIe1XY", "K5QtwAR", "5h3ajQN", "i"],
        miss: &["HETZNER", "_DNS_TO", "KEN=aD2", "00iV04D", "uqOZMpO", "7sHCYmq", "DVnLA36"],
        ..Rule::NAMED
    },
    Rule {
        name: "scaleway-access-key",
        about: "Scaleway access keys",
        keywords: &["SCW"],
        follow: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        pattern: Regex("SCW[A-Z0-9]{17}"),
        right: word,
        check: random,
        entropy: 3.0,
        hit: &["SCWFYSZ", "BFXLE95", "4JYMI1"],
        miss: &["SCWHCEC", "4J9IT0Q", "B42KS"],
        ..Rule::TOKEN
    },
    Rule {
        name: "scaleway-secret-key",
        about: "Scaleway secret keys beside the name",
        keywords: &["scw_secret", "aleway", "scw-secret", "scw_token", "scwsecret", "scwtoken"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["SCW_SEC", "RET_KEY", "=8ad50d", "83-48e1", "-ace2-1", "37b-49a", "3b28ee8", "23"],
        miss: &["SCW_SEC", "RET_KEY", "=e3af4f", "11-8ba5", "-0fe3-0", "4a6-199", "23b98a4", "4"],
        ..Rule::NAMED
    },
    Rule {
        name: "ovh-key",
        about: "OVH application secrets and consumer keys beside the name",
        keywords: &["ovh_", "ovh-", "ovhcloud", "ovhapplication", "ovhconsumer"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["OVH_CON", "SUMER_K", "EY=jtUg", "qGO6sXb", "QVFfncT", "ut6tAjZ", "5FdXlLF"],
        miss: &["OVH_CON", "SUMER_K", "EY=De1R", "fakyqcg", "X9JgHIE", "rW2UmCm", "SkAGYg"],
        ..Rule::NAMED
    },
    Rule {
        name: "exoscale-key",
        about: "Exoscale API keys",
        keywords: &["EXO"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("EXO[A-Za-z0-9]{24,32}"),
        right: word,
        check: jumbled,
        entropy: 2.5,
        hit: &["EXO341b", "e845eaa", "748dee2", "ea2b62"],
        miss: &["EXOb654", "00a2f82", "515d596", "782cf"],
        ..Rule::TOKEN
    },
    Rule {
        name: "upcloud-token",
        about: "UpCloud API tokens",
        keywords: &["ucat_"],
        pattern: Regex("ucat_[A-Za-z0-9]{26,34}"),
        right: word,
        check: random,
        entropy: 3.0,
        hit: &["ucat_6S", "PQRFQ4Z", "LWTWYJJ", "IRILT05", "FXJ"],
        miss: &["ucat_YI", "YHYX0D0", "97OC6MP", "8S76K5E", "O9"],
        ..Rule::TOKEN
    },
    Rule {
        name: "civo-token",
        about: "Civo API keys beside the name",
        keywords: &["civo"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("[A-Za-z0-9]{50}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &[
            "CIVO_TO", "KEN=FJT", "4hyZYgj", "P5PTf2v", "Yt9THG4", "PyT0SJI", "j3CdpIq", "hhqY5aD", "u5QoP",
        ],
        miss: &[
            "CIVO_TO", "KEN=geX", "LT3V5zd", "JybzpkC", "tHcKEGH", "lPedW1V", "b5kMALV", "yvvXlvV", "PBSl",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "backblaze-key",
        about: "Backblaze application keys",
        keywords: &["K000", "K001", "K002", "K003", "K004", "K005"],
        left: |byte| word(byte) || byte == b'+' || byte == b'/',
        pattern: Regex("K00[0-5][A-Za-z0-9/+]{27}"),
        right: base64,
        check: jumbled,
        entropy: 3.5,
        hit: &["K0019Ad", "9xGZB+R", "SM0fgWr", "azhQSVd", "vOI"],
        miss: &["K001RNa", "H4ffsOb", "2dPOvLB", "wEnZX1d", "tg"],
        ..Rule::TOKEN
    },
    Rule {
        name: "equinix-token",
        about: "Equinix Metal tokens beside the name",
        keywords: &["quinix", "ket_auth", "etal_auth", "ketauth", "etalauth"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["PACKET_", "AUTH_TO", "KEN=BWQ", "jIfDRjp", "xJyMpp0", "voO2KDk", "K2mlCJu", "f"],
        miss: &["PACKET_", "AUTH_TO", "KEN=KFw", "br5Upzi", "hWuIXzm", "dtOm7L0", "zraALoI"],
        ..Rule::NAMED
    },
];
